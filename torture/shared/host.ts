// A process on one of the hosts: it takes shared sessions, continues them, and is killed at any time.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Session, Store } from '../../src/index.js'
import { systemClock } from '../../src/system/index.js'
import { type Random, seededRandom } from '../../bench/trees/random.js'
import { linesOf, mutate } from '../folder.js'
import type { HostAssignment, ToModel } from './messages.js'

/** Errors of a bad network, of a server that restarts, and of other hosts. After one of them nothing was acknowledged. */
const EXPECTED = new Set([
  'NOT_SHARED',
  'PROJECT_BUSY',
  'REMOTE_UNREACHABLE',
  'SESSION_BUSY',
  'SESSION_CLOSED',
  'SESSION_FENCED',
  'STORE_CLOSED',
  'TOOL_UNVERIFIED',
])

type State = { messages: { n: number; text: string }[] }

const assignment = JSON.parse(process.argv[2] ?? '{}') as HostAssignment
const { home, remote, clockOffsetMs } = assignment
const { openStore } = (await import(assignment.sdk)) as typeof import('../../src/index.js')
const random: Random = seededRandom(assignment.seed)
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + clockOffsetMs }
let isStopping = false

process.on('message', () => {
  isStopping = true
})
// The model is gone, so there is no one to report to.
process.on('disconnect', () => process.exit(1))

while (!isStopping) await attempt('store', workWithStore)
process.disconnect()

async function attempt(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
    tell({ kind: 'done', what })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (EXPECTED.has(code)) {
      tell({ kind: 'done', what: `${what}: ${code}` })
      await sleep(20)
    } else {
      const message = error instanceof Error ? `${code} ${error.stack}` : String(error)
      tell({ kind: 'fault', what, message })
      isStopping = true
    }
  }
}

async function workWithStore(): Promise<void> {
  const store = await openStore({ home, remote, clock })
  try {
    for (let turn = 0; turn < 3 && !isStopping; turn += 1)
      await attempt('session', () => workWithSession(store))
  } finally {
    await store.close()
  }
}

async function workWithSession(store: Store): Promise<void> {
  const id = random.pick(assignment.sessions)
  mkdirSync(assignment.folder, { recursive: true })
  const folder = mkdtempSync(join(assignment.folder, 'work-'))
  const { session, inFlight } = await store.resume<State>(id, { create: true, into: folder })
  try {
    for (const call of inFlight) await session.resolveToolCall(call.id, { as: 'skipped' })
    for (let turn = 0; turn < 6 && !isStopping; turn += 1)
      await random.pick([step, step, filesStep, tool])({ id, folder, session })
  } finally {
    await session.close()
  }
}

type Work = { readonly id: string; readonly folder: string; readonly session: Session<State> }

async function step({ id, session }: Work): Promise<void> {
  const n = ((await session.latest())?.step ?? -1) + 1
  const item = { n, text: `step ${n} `.repeat(1 + random.below(50)) }
  const saved = await session.append('messages', [item])
  await acknowledge({ id, session }, saved, undefined)
}

async function filesStep({ id, folder, session }: Work): Promise<void> {
  mutate(folder, random)
  const lines = linesOf(folder)
  const saved = await session.save({ reason: 'files', files: true })
  await acknowledge({ id, session }, saved, lines)
}

/** Its effect is recorded by the model: no call may have two. */
async function tool({ id, session }: Work): Promise<void> {
  const call = `call-${random.below(2 ** 31)}`
  await session.tool({ id: call, name: 'effect', args: {} }, () => {
    tell({ kind: 'effect', session: id, call })
    return call
  })
}

async function acknowledge(
  { id, session }: Pick<Work, 'id' | 'session'>,
  saved: { readonly id: string; readonly step: number | null },
  lines: readonly string[] | undefined,
): Promise<void> {
  const digest = stateDigest(await session.stateAt(saved.id))
  const checkpoint = { session: id, id: saved.id, step: saved.step ?? -1, digest, lines }
  tell({ kind: 'acknowledged', checkpoint })
}

function stateDigest(state: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(state ?? null))
    .digest('hex')
    .slice(0, 24)
}

function tell(message: ToModel): void {
  process.send?.(message)
}
