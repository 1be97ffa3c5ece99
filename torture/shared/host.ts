// A process on one of the hosts: it takes shared sessions, continues them, and is killed at any time.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ResumedSession, Session, Store } from '../../src/index.js'
import { systemClock } from '../../src/system/index.js'
import { type Random, seededRandom } from '../../bench/trees/random.js'
import { linesOf, mutate } from '../folder.js'
import type { Acknowledged, HostAssignment, Message, State } from './messages.js'
import { openRecord } from './record.js'

/** Errors of a bad network, of a server that restarts, and of other processes. After one of them nothing was acknowledged. */
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
/** A pack of more than 256 KB is uploaded in chunks before the commit. */
const BLOB_BYTES = 400_000
const CALLS = 3
const MAX_TOOL_MS = 300

const assignment = JSON.parse(process.argv[2] ?? '{}') as HostAssignment
const { home, key, clockOffsetMs } = assignment
/** As the audit in the database sees it. */
const name = `${assignment.slot}-${process.pid}`
const remote = new URL(assignment.remote)
remote.searchParams.set('application_name', name)
const { openStore } = (await import(assignment.sdk)) as typeof import('../../src/index.js')
const random: Random = seededRandom(assignment.seed)
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + clockOffsetMs }
const record = openRecord(assignment.record, name)
let isStopping = false
let tokens = 0

process.on('message', () => {
  isStopping = true
})
// The program that checks is gone.
process.on('disconnect', () => process.exit(1))

while (!isStopping) await attempt('store', workWithStore)
process.disconnect()

async function attempt(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
    record({ kind: 'done', what })
  } catch (error) {
    const code = codeOf(error)
    if (EXPECTED.has(code)) {
      record({ kind: 'done', what: `${what}: ${code}` })
      await sleep(20)
    } else {
      const message = error instanceof Error ? `${code} ${error.stack}` : String(error)
      record({ kind: 'fault', what, message })
      isStopping = true
    }
  }
}

async function workWithStore(): Promise<void> {
  const store = await openStore({
    home,
    remote: { url: remote.href, ...(key === null ? {} : { key }) },
    clock,
  })
  try {
    for (let turn = 0; turn < 3 && !isStopping; turn += 1)
      await attempt('session', () => workWithSession(store))
  } finally {
    await store.close()
  }
}

async function workWithSession(store: Store): Promise<void> {
  mkdirSync(assignment.folder, { recursive: true })
  const folder = mkdtempSync(join(assignment.folder, 'work-'))
  const opened = await open(store, folder)
  if (opened === undefined) return
  const { session, state, inFlight } = opened
  const work: Work = { store, folder, session, id: opened.info.id, messages: state?.messages ?? [] }
  try {
    for (const call of inFlight) await resolveCall(work, call.id)
    for (let turn = 0; turn < 6 && !isStopping; turn += 1) {
      const [what, run] = random.pick(worksOf(work))
      await run(work)
      record({ kind: 'done', what })
    }
  } finally {
    await session.close()
  }
}

async function open(store: Store, folder: string): Promise<ResumedSession<State> | undefined> {
  if (random.below(4) === 0) return store.claim<State>({ into: folder })
  return store.resume<State>(random.pick(assignment.sessions), { create: true, into: folder })
}

type Work = {
  readonly store: Store
  readonly id: string
  readonly folder: string
  readonly session: Session<State>
  /** As this process knows them. */
  messages: readonly Message[]
}

type Works = readonly (readonly [string, (work: Work) => Promise<void>])[]

/** A steady session only grows, so nothing that was saved may ever be missing from its newest state. */
function worksOf({ id }: Work): Works {
  const growth: Works = [
    ['step', step],
    ['step', step],
    ['step', step],
    ['step with files', stepWithFiles],
    ['files', saveFiles],
  ]
  if (/^steady-\d+$/.test(id)) return [...growth, ['tool', tool], ['tool', tool]]
  if (id.startsWith('steady-')) return growth
  return [...growth, ['rewind', rewind], ['fork', fork], ['prune', prune]]
}

async function step(work: Work): Promise<void> {
  await append(work, null)
}

async function stepWithFiles(work: Work): Promise<void> {
  await append(work, changeFiles(work.folder))
}

async function saveFiles(work: Work): Promise<void> {
  const lines = changeFiles(work.folder)
  acknowledge(work, await work.session.save({ reason: 'files', files: true }), lines)
}

async function append(work: Work, lines: readonly string[] | null): Promise<void> {
  const { session, id, messages } = work
  tokens += 1
  const n = messages.length
  const item: Message = {
    n,
    token: `${name}-${tokens}`,
    after: messages.at(-1)?.token ?? null,
    text: `message ${n} `.repeat(1 + random.below(50)),
  }
  try {
    const saved = await session.append('messages', [item], lines === null ? {} : { files: true })
    work.messages = [...messages, item]
    acknowledge(work, saved, lines)
  } catch (error) {
    if (codeOf(error) === 'NOT_SHARED') record({ kind: 'kept', session: id, token: item.token })
    throw error
  }
}

function acknowledge(
  { id, messages }: Pick<Work, 'id' | 'messages'>,
  saved: { readonly id: string; readonly step: number | null },
  lines: readonly string[] | null,
): void {
  record({ kind: 'saved', ...acknowledged(id, saved, { messages, lines }) })
}

function acknowledged(
  session: string,
  saved: { readonly id: string; readonly step: number | null },
  { messages, lines }: Pick<Work, 'messages'> & Pick<Acknowledged, 'lines'>,
): Acknowledged {
  const message = messages.at(-1)
  const last = message && { n: message.n, token: message.token, after: message.after }
  return { session, id: saved.id, step: saved.step ?? -1, last: last ?? null, lines }
}

function changeFiles(folder: string): readonly string[] {
  mutate(folder, random)
  if (random.below(6) === 0) {
    const words = Uint32Array.from({ length: BLOB_BYTES / 4 }, () => random.below(2 ** 32))
    writeFileSync(join(folder, 'blob'), words)
  }
  return linesOf(folder)
}

/** The ids recur, so that several processes make the same call. */
async function tool(work: Work): Promise<void> {
  await call(work, `call-${Math.floor(work.messages.length / 4)}-${random.below(CALLS)}`)
}

async function call({ id, session }: Work, of: string): Promise<void> {
  const full = `${of} of ${id}`
  const value = await session.tool({ id: of, name: 'effect', args: {} }, async () => {
    tokens += 1
    const made = `${name}-${tokens}`
    record({ kind: 'effect', call: full, value: made })
    // The tool has had its effect and still runs: a kill now leaves a call in flight.
    await sleep(random.below(MAX_TOOL_MS))
    return made
  })
  record({ kind: 'returned', call: full, value: value ?? null })
}

async function resolveCall(work: Work, of: string): Promise<void> {
  const full = `${of} of ${work.id}`
  const as = random.pick(['confirmed', 'retry', 'skipped'] as const)
  tokens += 1
  const result = `${name}-${tokens}`
  if (as === 'confirmed') {
    record({ kind: 'resolving', call: full, value: result })
    await work.session.resolveToolCall(of, { as, result })
  } else {
    if (as === 'skipped') record({ kind: 'resolving', call: full, value: null })
    await work.session.resolveToolCall(of, { as })
    if (as === 'retry') record({ kind: 'retrying', call: full })
  }
  await call(work, of)
}

async function rewind(work: Work): Promise<void> {
  const target = await pickCheckpoint(work)
  if (target === undefined) return
  const restore = target.hasFiles && random.below(3) > 0 ? 'both' : 'state'
  await work.session.rewind(target.id, { restore })
  work.messages = (await work.session.stateAt())?.messages ?? []
}

async function pickCheckpoint({ session }: Pick<Work, 'session'>) {
  const recent = (await session.list({ limit: 40 })).filter(({ hasState }) => hasState)
  return recent.length === 0 ? undefined : random.pick(recent)
}

/** Its first state is the one of the checkpoint, and it continues by itself. */
async function fork({ store, session }: Work): Promise<void> {
  const from = await pickCheckpoint({ session })
  if (from === undefined) return
  const messages = (await session.stateAt(from.id))?.messages ?? []
  tokens += 1
  const id = `fork-${name}-${tokens}`
  const forked = await store.fork<State>(from.id, { session: id })
  const folder = mkdtempSync(join(assignment.folder, 'fork-'))
  try {
    await append({ store, id, folder, session: forked, messages }, null)
  } finally {
    await forked.close()
  }
}

async function prune({ id, session }: Work): Promise<void> {
  const options = { maxCheckpoints: 30, keepLast: 10 }
  const { dropped } = await session.prune({ ...options, dryRun: true })
  record({ kind: 'pruning', session: id, ids: dropped })
  await session.prune(options)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
