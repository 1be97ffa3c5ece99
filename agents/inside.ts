// The part of the run that has no network: every case of every agent, one after another, and a table at the end.
import process from 'node:process'
import { parseArgs } from 'node:util'
import type { Bed, Case } from './case.js'
import { ENDING_CASES } from './cases/endings.js'
import { HOOK_CASES } from './cases/hooks.js'
import { RESUME_CASES } from './cases/resume.js'
import { installed } from './install.js'
import { chosenAgents, OPTIONS } from './options.js'

const CASES: readonly Case[] = [...HOOK_CASES, ...RESUME_CASES, ...ENDING_CASES]

interface Result {
  readonly agent: string
  readonly claim: string
  readonly tookMs: number
  readonly fault?: string
}

const { values } = parseArgs({ options: OPTIONS })
const results: Result[] = []
for (const agent of chosenAgents(values.agent)) {
  const folders: string[] = []
  for (const one of agent.packages) folders.push(await installed(one))
  for (const one of CASES.filter(({ claim }) => claim.includes(values.case))) {
    const result = await proved({ agent, folders }, one)
    results.push(result)
    console.log(line(result))
  }
}
const faults = results.filter(({ fault }) => fault !== undefined)
for (const { agent, claim, fault } of faults) console.error(`\n${agent}: ${claim}\n${fault}`)
console.log(`\n${results.length - faults.length} of ${results.length} claims hold.`)
process.exitCode = faults.length === 0 && results.length > 0 ? 0 : 1

async function proved(bed: Bed, one: Case): Promise<Result> {
  const startedAt = performance.now()
  const what = { agent: bed.agent.name, claim: one.claim }
  try {
    await one.prove(bed)
    return { ...what, tookMs: performance.now() - startedAt }
  } catch (error) {
    const fault = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { ...what, tookMs: performance.now() - startedAt, fault }
  }
}

function line({ agent, claim, tookMs, fault }: Result): string {
  const seconds = `${(tookMs / 1000).toFixed(1)} s`
  return `${fault === undefined ? 'ok    ' : 'FAULT '} ${agent.padEnd(9)} ${seconds.padStart(7)}  ${claim}`
}
