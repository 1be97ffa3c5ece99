// Determines who changed what a checkpoint adds to the one before. Writes cannot be observed directly, so it uses who was
// active between two scans of the folder: an agent from the scan before a tool call to the scan after it, and the user
// whenever no agent was active. Pure. See docs/guide/coding-agents.md#who-changed-what.

export const USER_AUTHOR = 'you'
/** The author of changes made by a rewind, an undo or a redo. */
export const REWIND = 'rewind'
/** The user, unless the end of a running call is still observed: then all changes were the agent's. */
const MAYBE_USER = 'you?'

/** Sorted names; empty if nothing changed. Null: not known. */
export type Authors = readonly string[] | null

/** A tool call that can change files, from the scan before it. */
export type Task = {
  readonly who: string
  readonly session: string
  readonly call: string
  readonly agentId?: string | undefined
  readonly sinceMs: number
  /** Checkpoints made while it ran. If the end of this call is observed, all their changes are the agents'. */
  readonly unsure: readonly string[]
}

/** The reason for a scan. */
export type ChangeEvent =
  | {
      readonly type: 'event'
      readonly who: string
      readonly session: string
      readonly agentId?: string | undefined
      readonly begins?: string | undefined
      readonly ends?: string | undefined
      /** Calls that must have ended earlier: those of the session, or of the agent that makes the call. */
      readonly over?: 'session' | 'agent' | undefined
    }
  /** The caller that saves the folder names the authors. */
  | { readonly type: 'said'; readonly who: readonly string[] }
  | { readonly type: 'look' }

export type Attribution = {
  /** The authors if something changed since the previous scan. */
  readonly authors: readonly string[]
  /** The running calls from now on. `made`: the checkpoint of this scan, if it made one. */
  readonly tasks: (made: string | undefined) => readonly Task[]
  /** Checkpoints whose changes are now known to be the agents'. */
  readonly settled: readonly string[]
}

/** A call without news for this long ended with its agent. */
const FORGET_MS = 60 * 60_000
const MAX_TASKS = 100
const MAX_UNSURE = 200

export function attributeEvent(
  known: readonly Task[],
  moment: ChangeEvent,
  nowMs: number,
): Attribution {
  const running = known.filter(({ sinceMs }) => Math.abs(nowMs - sinceMs) < FORGET_MS)
  const names = running.map(({ who }) => who)
  if (moment.type === 'said')
    return { authors: sortNames([...names, ...moment.who]), tasks: () => running, settled: [] }
  // Two identical calls may have the same key; only one of them has ended.
  const ended = running.filter((task) => isEndOf(moment, task)).slice(0, 1)
  const left = running.filter((task) => !ended.includes(task) && !isOver(moment, task))
  const isSure = ended.length > 0
  const isUserOnly = running.length === 0 && !endsUnknown(moment, ended)
  const others = isUserOnly || isSure ? [] : [left.length > 0 ? MAYBE_USER : USER_AUTHOR]
  const unknown = endsUnknown(moment, ended) ? [moment.who, USER_AUTHOR] : []
  const authors = isUserOnly ? [USER_AUTHOR] : sortNames([...names, ...others, ...unknown])
  return {
    authors,
    tasks(made) {
      const isUnsure = made !== undefined && authors.includes(MAYBE_USER)
      const kept = isUnsure ? left.map((task) => withUnsure(task, made)) : left
      return [...kept, ...startedTasks(moment, nowMs)].slice(-MAX_TASKS)
    },
    settled: ended.flatMap(({ unsure }) => unsure),
  }
}

/**
 * For display: `you`, `claude`, `claude+you`. `rewind` only if there is no other author. Null if nothing changed or nothing is
 * known.
 */
export function authorText(authors: Authors): string | null {
  const all = shownAuthors(authors ?? [])
  const shown = all.length === 1 ? all : all.filter((name) => name !== REWIND)
  return shown.length === 0 ? null : shown.join('+')
}

export function shownAuthors(authors: readonly string[]): readonly string[] {
  return sortNames(authors.map((name) => (name === MAYBE_USER ? USER_AUTHOR : name)))
}

/** An unknown author may be the user. */
export function mayBeByUser(authors: Authors): boolean {
  return authors === null || shownAuthors(authors).includes(USER_AUTHOR)
}

/** The authors of two changes that were merged. */
export function joinAuthors(one: Authors, other: Authors): Authors {
  return one === null || other === null ? null : sortNames([...one, ...other])
}

/** The authors once the end of the running call was observed. */
export function resolveAuthors(authors: Authors): Authors {
  return authors?.filter((name) => name !== MAYBE_USER) ?? null
}

type Event = Extract<ChangeEvent, { type: 'event' }>

function isEndOf(moment: ChangeEvent, { who, session, call }: Task): boolean {
  if (moment.type !== 'event') return false
  return moment.who === who && moment.session === session && moment.ends === call
}

function isOver(moment: ChangeEvent, task: Task): boolean {
  if (moment.type !== 'event' || moment.over === undefined) return false
  if (task.who !== moment.who || task.session !== moment.session) return false
  return moment.over === 'session' || task.agentId === moment.agentId
}

/** A call ended whose start was not observed: the agent was active, for an unknown time. */
function endsUnknown(moment: ChangeEvent, ended: readonly Task[]): moment is Event {
  return moment.type === 'event' && moment.ends !== undefined && ended.length === 0
}

function startedTasks(moment: ChangeEvent, sinceMs: number): readonly Task[] {
  if (moment.type !== 'event' || moment.begins === undefined) return []
  const { who, session, agentId, begins: call } = moment
  return [
    { who, session, call, sinceMs, unsure: [], ...(agentId === undefined ? {} : { agentId }) },
  ]
}

function withUnsure(task: Task, made: string): Task {
  return task.unsure.length >= MAX_UNSURE ? task : { ...task, unsure: [...task.unsure, made] }
}

function sortNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort()
}
