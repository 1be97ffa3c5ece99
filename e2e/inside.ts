// The part of the run that has no network: every case of every agent, one after another, and a table at the end.
import process from 'node:process'
import { parseArgs } from 'node:util'
import type { Bed, Case, InstalledAgent } from './case.js'
import { CARE_CASES } from './cases/refusals.js'
import { DAEMON_CASES } from './cases/daemon.js'
import { ENDING_CASES } from './cases/endings.js'
import { HOOK_CASES } from './cases/hooks.js'
import { LATENCY_CASES } from './cases/latency.js'
import { LAUNCHER_CASES } from './cases/launcher.js'
import { MCP_CASES } from './cases/mcp.js'
import { PAGE_CASES } from './cases/page.js'
import { PROMPT_CASES } from './cases/prompt-commands.js'
import { RESUME_CASES } from './cases/resume.js'
import { TROUBLE_CASES } from './cases/trouble.js'
import { UNDO_CASES } from './cases/undo.js'
import { installed } from './install.js'
import { endWithCaller } from './namespace.js'
import { chosenAgents, OPTIONS, partnerOf } from './options.js'
import type { Agent } from './programs/agent.js'

const CASES: readonly Case[] = [
  ...HOOK_CASES,
  ...RESUME_CASES,
  ...ENDING_CASES,
  ...UNDO_CASES,
  ...CARE_CASES,
  ...PROMPT_CASES,
  ...MCP_CASES,
  ...LAUNCHER_CASES,
  ...TROUBLE_CASES,
  ...DAEMON_CASES,
  ...LATENCY_CASES,
  // A browser beside them would change the times.
  ...PAGE_CASES,
]

interface Result {
  readonly agent: string
  readonly claim: string
  readonly tookMs: number
  readonly fault?: string
  readonly note?: string
}

endWithCaller()
const { values } = parseArgs({ options: OPTIONS })
const results: Result[] = []
for (const agent of chosenAgents(values.agent)) {
  const bed = { ...(await found(agent)), partner: await found(partnerOf(agent)) }
  for (const one of CASES.filter(({ claim }) => claim.includes(values.case))) {
    const result = await proved(bed, one)
    results.push(result)
    console.log(line(result))
  }
}
const faults = results.filter(({ fault }) => fault !== undefined)
for (const { agent, claim, fault } of faults) console.error(`\n${agent}: ${claim}\n${fault}`)
console.log(`\n${results.length - faults.length} of ${results.length} claims hold.`)
process.exit(faults.length === 0 && results.length > 0 ? 0 : 1)

async function found(agent: Agent): Promise<InstalledAgent> {
  const folders: string[] = []
  for (const one of agent.packages) folders.push(await installed(one))
  return { agent, folders }
}

async function proved(bed: Bed, one: Case): Promise<Result> {
  const startedAt = performance.now()
  const what = { agent: bed.agent.name, claim: one.claim }
  try {
    const note = await one.prove(bed)
    const tookMs = performance.now() - startedAt
    return typeof note === 'string' ? { ...what, tookMs, note } : { ...what, tookMs }
  } catch (error) {
    const fault = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { ...what, tookMs: performance.now() - startedAt, fault }
  }
}

function line({ agent, claim, tookMs, fault, note }: Result): string {
  const seconds = `${(tookMs / 1000).toFixed(1)} s`
  return `${fault === undefined ? 'ok    ' : 'FAULT '} ${agent.padEnd(9)} ${seconds.padStart(7)}  ${claim}${note === undefined ? '' : ` (${note})`}`
}
