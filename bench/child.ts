/**
 * The benchmark's child process: it loads the SDK and handles one request at a time, so that
 * its time, memory and event loop delays are Savestate's only. It also creates the
 * trees, which keeps the parent small.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import process from 'node:process'
import { openStore, type Project, type Store } from './sdk.js'
import { answerState, type StateAnswers, type StateRequest } from './states/state-child.js'
import { copyTree, growTree, type Shape, type TreeFacts } from './trees/tree.js'

export type Request = TreeRequest | StateRequest

type TreeRequest =
  | { readonly kind: 'grow'; readonly root: string; readonly shape: Shape }
  | { readonly kind: 'copy'; readonly from: string; readonly to: string }
  | { readonly kind: 'open'; readonly home: string; readonly tree: string; readonly watch: boolean }
  | { readonly kind: 'save'; readonly probed: boolean }
  | { readonly kind: 'rewind'; readonly to: string }
  | { readonly kind: 'count' }
  | { readonly kind: 'memory' }
  | { readonly kind: 'close' }

export interface SaveReport {
  readonly ms: number
  readonly id: string
  readonly created: boolean
  /** The longest delay of the event loop, if the save was probed. */
  readonly worstGapMs: number
}

/** The answer to each request. */
export interface Answers extends StateAnswers {
  readonly grow: TreeFacts
  readonly copy: TreeFacts
  readonly open: null
  readonly save: SaveReport
  readonly rewind: { readonly ms: number; readonly applied: boolean }
  /** The number of checkpoints of the project. */
  readonly count: number
  readonly memory: { readonly peakBytes: number }
  readonly close: null
}

export type Reply =
  | { readonly ok: true; readonly answer: Answers[Request['kind']] }
  | { readonly ok: false; readonly error: string }

let opened: { readonly store: Store; readonly project: Project } | undefined

/** Answers the parent's requests until it disconnects. */
export function serve(): void {
  process.on('disconnect', () => process.exit(0))
  process.on('message', (request: Request) => {
    void answer(request).then(
      (value) => reply({ ok: true, answer: value }),
      (error: unknown) => reply({ ok: false, error: describe(error) }),
    )
  })
}

function reply(message: Reply): void {
  process.send?.(message)
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

async function answer(request: Request): Promise<Answers[Request['kind']]> {
  switch (request.kind) {
    case 'grow':
      return growTree(request.root, request.shape)
    case 'copy':
      return copyTree(request.from, request.to)
    case 'open': {
      const store = await openStore(request.home)
      opened = { store, project: await store.project(request.tree, { watch: request.watch }) }
      return null
    }
    case 'save':
      return request.probed ? probedSave() : save()
    case 'rewind': {
      const start = performance.now()
      const { applied } = await project().rewind(request.to)
      return { ms: performance.now() - start, applied }
    }
    case 'count': {
      const checkpoints = await project().list({ limit: 100_000 })
      return checkpoints.length
    }
    case 'memory':
      return { peakBytes: process.resourceUsage().maxRSS * 1024 }
    case 'close':
      await opened?.store.close()
      opened = undefined
      return null
    default:
      return answerState(request)
  }
}

function project(): Project {
  if (opened === undefined) throw new Error('No store is open in this child')
  return opened.project
}

async function save(): Promise<SaveReport> {
  const start = performance.now()
  const { id, created } = await project().save({ reason: 'bench' })
  return { ms: performance.now() - start, id, created, worstGapMs: 0 }
}

const PROBE_MS = 1
const SETTLE_MS = 200

async function probedSave(): Promise<SaveReport> {
  let worstGapMs = 0
  let last = performance.now()
  const probe = setInterval(() => {
    const now = performance.now()
    worstGapMs = Math.max(worstGapMs, now - last - PROBE_MS)
    last = now
  }, PROBE_MS)
  try {
    // The first turns of the probe (compiling, first garbage collection) are not caused by the save.
    await sleep(SETTLE_MS)
    worstGapMs = 0
    const report = await save()
    // One more turn, to see a delay that includes the end of the save.
    await sleep(2 * PROBE_MS)
    return { ...report, worstGapMs }
  } finally {
    clearInterval(probe)
  }
}
