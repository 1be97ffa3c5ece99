// The program under test, as a user has it: on PATH, with its own store.
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Scene } from './case.js'
import { run } from './drive.js'
import { asList, asRecord, asText, type Json } from './model-server/json.js'
import type { Place } from './install-folder.js'

/** The bundle is build/e2e/inside.js, two folders below the project. */
const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

/** Installs the hooks of Savestate for this agent, with extra options, as a user does. */
export async function connect(
  { agent, place }: Scene,
  options: readonly ('--mcp' | '--http')[] = [],
): Promise<void> {
  const trust = agent.habits.demandsTrust ? ['--trust'] : []
  await savestate(place, ['install', agent.name, '--user', ...options, ...trust, '--yes'])
}

function putOnPath(place: Place): void {
  const path = join(place.root, 'bin', 'savestate')
  if (!existsSync(path)) symlinkSync(PROGRAM, path)
}

export interface Checkpoint {
  readonly id: string
  readonly reason: string
  readonly session: string
  /** The authors of its changes: see docs/agents.md. */
  readonly author: unknown
}

/** The checkpoints of the project, oldest first. */
export async function checkpoints(place: Place): Promise<Checkpoint[]> {
  const listed = await savestate(place, ['list'])
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

export async function rewind(place: Place, { id }: Checkpoint): Promise<void> {
  await savestate(place, ['rewind', id, '--yes'])
}

/** Runs a command of the program and returns its JSON. Throws if it fails. */
export async function savestate(place: Place, args: readonly string[]): Promise<Json> {
  putOnPath(place)
  const outcome = await run(place, {
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
