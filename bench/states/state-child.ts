/**
 * The work of a child process with states: it writes them step by step as one of the writers, or opens
 * a store that another one wrote and reads from it.
 */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { conversationOf, digestOf, type Message } from './conversation.js'
import { median } from '../measure.js'
import { openStore, type Session, type Store } from '../sdk.js'
import { type Writer, type WriterName, type WriterPlace, WRITERS } from './state-writers.js'

export type StateRequest =
  | {
      readonly kind: 'begin-writing'
      readonly writer: WriterName
      readonly place: WriterPlace
      /** The number of pairs to skip, because they are stored already. */
      readonly after: number
    }
  /** This many steps in a single write. */
  | { readonly kind: 'leap'; readonly steps: number }
  /** This many steps, one write each. */
  | { readonly kind: 'steps'; readonly steps: number }
  | { readonly kind: 'end-writing' }
  | { readonly kind: 'list-states'; readonly home: string }
  | { readonly kind: 'load-state'; readonly home: string }
  | { readonly kind: 'parse-state'; readonly path: string }
  /** Resumes the shared session in an empty store, and restores its files if there is a folder for them. */
  | {
      readonly kind: 'resume-remote'
      readonly home: string
      readonly remote: string
      readonly into?: string
    }
  /** Reads what PostgresSaver wrote. */
  | { readonly kind: 'get-tuple'; readonly remote: string; readonly packages: string }
  | { readonly kind: 'fork-state'; readonly home: string; readonly forks: number }

export interface ListReport {
  readonly ms: number
  readonly checkpoints: number
  /** The increase of the resident memory. */
  readonly grownBytes: number
}

export interface LoadReport {
  readonly ms: number
  /** The median of the next calls in the same process. */
  readonly againMs: number
  readonly digest: string
}

/** One call in a process that has just started, with the connection. */
export interface ResumeReport {
  readonly ms: number
  readonly digest: string
}

export interface ForkReport {
  readonly times: readonly number[]
  /** The hash of the state that the last fork returns. */
  readonly digest: string
}

export interface StateAnswers {
  readonly 'begin-writing': null
  readonly leap: null
  /** The milliseconds of each. */
  readonly steps: readonly number[]
  readonly 'end-writing': null
  readonly 'list-states': ListReport
  readonly 'load-state': LoadReport
  readonly 'parse-state': LoadReport
  readonly 'resume-remote': ResumeReport
  readonly 'get-tuple': ResumeReport
  readonly 'fork-state': ForkReport
}

interface Writing {
  readonly writer: Writer
  readonly after: number
  steps: number
  messages: readonly Message[]
}

export const SESSION = 'bench'

let writing: Writing | undefined

export async function answerState(
  request: StateRequest,
): Promise<StateAnswers[StateRequest['kind']]> {
  switch (request.kind) {
    case 'begin-writing': {
      const writer = await WRITERS[request.writer](request.place)
      writing = { writer, after: request.after, steps: 0, messages: [] }
      return null
    }
    case 'leap':
      await advance(request.steps)
      return null
    case 'steps': {
      const times: number[] = []
      while (times.length < request.steps) times.push(await advance(1))
      return times
    }
    case 'end-writing':
      await endWriting()
      return null
    case 'list-states':
      return inSession(request.home, list)
    case 'load-state':
      return inSession(request.home, ({ session }) => load(() => session.stateAt()))
    case 'parse-state': {
      const text = readFileSync(request.path, 'utf8')
      return load(async () => JSON.parse(text))
    }
    case 'resume-remote':
      return resume(request)
    case 'get-tuple':
      return getTuple(request)
    case 'fork-state':
      return inSession(request.home, (open) => fork(open, request.forks))
  }
}

function current(): Writing {
  if (writing === undefined) throw new Error('Nothing is being written in this child')
  return writing
}

/** The milliseconds of one write that extends the conversation by this many steps. */
async function advance(steps: number): Promise<number> {
  const now = current()
  const { messages: added } = conversationOf(steps, { after: now.after + now.steps })
  now.steps += steps
  now.messages = [...now.messages, ...added]
  const step = { number: now.steps, messages: now.messages, added }
  const start = performance.now()
  await now.writer.write(step)
  return performance.now() - start
}

/** Checks that the writer stored the state. */
async function endWriting(): Promise<void> {
  const { writer, messages } = current()
  writing = undefined
  try {
    const isKept = digestOf(await writer.read()) === digestOf({ messages })
    if (!isKept) throw new Error('The stored state differs from the one that was written')
  } finally {
    await writer.close()
  }
}

interface Open {
  readonly store: Store
  readonly session: Session
}

async function inSession<T>(home: string, work: (open: Open) => Promise<T>): Promise<T> {
  const store = await openStore(home)
  try {
    const session = await store.session(SESSION, { create: false })
    return await work({ store, session })
  } finally {
    await store.close()
  }
}

async function list({ session }: Open): Promise<ListReport> {
  const before = process.memoryUsage.rss()
  const peakBefore = process.resourceUsage().maxRSS
  const start = performance.now()
  const checkpoints = await session.list()
  const ms = performance.now() - start
  const peak = process.resourceUsage().maxRSS
  // A peak that is not new may be older than the list, so it does not count.
  const highest = peak > peakBefore ? peak * 1024 : process.memoryUsage.rss()
  return { ms, checkpoints: checkpoints.length, grownBytes: Math.max(0, highest - before) }
}

const REPEATS = 5

async function load(read: () => Promise<unknown>): Promise<LoadReport> {
  const times: number[] = []
  let state: unknown
  while (times.length <= REPEATS) {
    const start = performance.now()
    state = await read()
    times.push(performance.now() - start)
  }
  const [ms, ...again] = times
  return { ms: ms ?? Number.NaN, againMs: median(again), digest: digestOf(state) }
}

async function resume({
  home,
  remote,
  into,
}: Extract<StateRequest, { kind: 'resume-remote' }>): Promise<ResumeReport> {
  const start = performance.now()
  const store = await openStore(home, { remote })
  try {
    const { state } = await store.resume(SESSION, into === undefined ? {} : { into })
    const ms = performance.now() - start
    return { ms, digest: digestOf(state) }
  } finally {
    await store.close()
  }
}

async function getTuple({
  remote,
  packages,
}: Extract<StateRequest, { kind: 'get-tuple' }>): Promise<ResumeReport> {
  const start = performance.now()
  const place = { remote, packages, session: SESSION, folder: '' }
  const reader = await WRITERS.PostgresSaver(place)
  try {
    const state = await reader.read()
    const ms = performance.now() - start
    return { ms, digest: digestOf(state) }
  } finally {
    await reader.close()
  }
}

async function fork({ store, session }: Open, forks: number): Promise<ForkReport> {
  const head = await session.latest()
  if (head === undefined) throw new Error('The session has no checkpoint')
  const times: number[] = []
  let state: unknown
  while (times.length < forks) {
    const id = `${SESSION}-fork-${times.length}`
    const start = performance.now()
    const forked = await store.fork(head.id, { session: id })
    times.push(performance.now() - start)
    if (times.length === forks) state = await forked.stateAt()
    await forked.close()
  }
  return { times, digest: digestOf(state) }
}
