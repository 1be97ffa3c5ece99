// The program under test, as a user has it: on PATH, with its own store.
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Scene } from './case.js'
import { run } from './drive.js'
import { asList, asRecord, asText, type Json } from './model-server/json.js'
import type { Sandbox } from './install-folder.js'

/** The bundle is build/e2e/inside.js, two folders below the project. */
export const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

/** Installs the hooks of Savestate for this agent, with extra options, as a user does. */
export async function connect(
  { agent, sandbox }: Scene,
  options: readonly ('--mcp' | '--http')[] = [],
): Promise<void> {
  const trust = agent.habits.demandsTrust ? ['--trust'] : []
  await savestate(sandbox, ['install', agent.name, '--user', ...options, ...trust, '--yes'])
}

function putOnPath(sandbox: Sandbox): void {
  const path = join(sandbox.root, 'bin', 'savestate')
  if (!existsSync(path)) symlinkSync(PROGRAM, path)
}

export interface Checkpoint {
  readonly id: string
  readonly reason: string
  readonly session: string
  /** The authors of its changes: see docs/guide/coding-agents.md. */
  readonly author: unknown
}

/** The checkpoints of the project, oldest first. */
export async function checkpoints(sandbox: Sandbox): Promise<Checkpoint[]> {
  const listed = await savestate(sandbox, ['list'])
  return asList(listed['checkpoints'])
    .map(asRecord)
    .map((one) => ({
      id: asText(one['id']),
      reason: asText(one['reason']),
      session: asText(one['session']),
      author: one['author'],
    }))
    .reverse()
}

export async function rewind(sandbox: Sandbox, { id }: Checkpoint): Promise<void> {
  await savestate(sandbox, ['rewind', id, '--yes'])
}

/** Runs a command of the program and returns its JSON. Throws if it fails. */
export async function savestate(sandbox: Sandbox, args: readonly string[]): Promise<Json> {
  putOnPath(sandbox)
  const outcome = await run(sandbox, {
    program: 'savestate',
    args: [...args, '--json'],
    environment: {},
  })
  if (outcome.code !== 0) {
    throw new Error(
      `savestate ${args.join(' ')}: ${outcome.code} ${outcome.stdout}${outcome.stderr}`,
    )
  }
  const value: unknown = JSON.parse(outcome.stdout)
  return asRecord(value)
}
