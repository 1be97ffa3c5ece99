// Who has changed what a checkpoint adds to the one before. Nobody can be watched while a file is written. What is known
// is who was at work between two looks at the folder: an agent from the look before a tool call to the look after it,
// and the person whenever no agent was. Pure. See docs/agents.md#who-changed-what.

export const PERSON = 'you'
/** What a rewind, an undo or a redo has brought back. */
export const REWIND = 'rewind'
/** The person, unless the end of a call that is under way is still seen: then it was the agent all the time. */
const PERHAPS_PERSON = 'you?'

/** Names, sorted; none where nothing was changed. Null: not known. */
export type Authors = readonly string[] | null

/** A tool call that can change files, from the look before it on. */
export type Task = {
  /** The name of the agent. */
  readonly who: string
  readonly session: string
  readonly call: string
  /** The subagent that makes it. */
  readonly agentId?: string | undefined
  readonly sinceMs: number
  /** Checkpoints made meanwhile that are the agents' alone if the end of this call is seen. */
  readonly unsure: readonly string[]
}

/** What is known of a look besides what was found. */
export type Moment =
  /** An event of an agent. */
  | {
      readonly type: 'event'
      readonly who: string
      readonly session: string
      readonly agentId?: string | undefined
      /** The call that begins after the look. */
      readonly begins?: string | undefined
      /** The call that ended before it. */
      readonly ends?: string | undefined
      /** Calls that must have ended some time ago: those of the session, or of the one who makes the call. */
      readonly over?: 'session' | 'agent' | undefined
    }
  /** Whoever has the folder saved says who has changed it. */
  | { readonly type: 'said'; readonly who: readonly string[] }
  | { readonly type: 'look' }

export type Judgement = {
  /** If something has changed since the look before. */
  readonly authors: readonly string[]
  /** What is under way from now on. `made`: the checkpoint of the look, if it made one. */
  readonly tasks: (made: string | undefined) => readonly Task[]
  /** Checkpoints that are known to be the agents' alone from now on. */
  readonly settled: readonly string[]
}

/** A call of which nothing was heard for so long has ended with its agent. */
const FORGET_MS = 60 * 60_000
const MAX_TASKS = 100
const MAX_UNSURE = 200

export function judge(known: readonly Task[], moment: Moment, nowMs: number): Judgement {
  const running = known.filter(({ sinceMs }) => Math.abs(nowMs - sinceMs) < FORGET_MS)
  const names = running.map(({ who }) => who)
  if (moment.type === 'said')
    return { authors: namesOf([...names, ...moment.who]), tasks: () => running, settled: [] }
  // Two calls that were asked for the same may have one key; one of them has ended.
  const ended = running.filter((task) => isEndOf(moment, task)).slice(0, 1)
  const left = running.filter((task) => !ended.includes(task) && !isOver(moment, task))
  const isSure = ended.length > 0
  const isNobody = running.length === 0 && !endsUnknown(moment, ended)
  const others = isNobody || isSure ? [] : [left.length > 0 ? PERHAPS_PERSON : PERSON]
  const unknown = endsUnknown(moment, ended) ? [moment.who, PERSON] : []
  const authors = isNobody ? [PERSON] : namesOf([...names, ...others, ...unknown])
  return {
    authors,
    tasks(made) {
      const isUnsure = made !== undefined && authors.includes(PERHAPS_PERSON)
      const kept = isUnsure ? left.map((task) => withUnsure(task, made)) : left
      return [...kept, ...begun(moment, nowMs)].slice(-MAX_TASKS)
    },
    settled: ended.flatMap(({ unsure }) => unsure),
  }
}

/**
 * For people: `you`, `claude`, `claude+you`. `rewind` only if no one else changed anything: it is not a person. Null
 * where nothing was changed, or nothing is known.
 */
export function authorText(authors: Authors): string | null {
  const all = shownAuthors(authors ?? [])
  const shown = all.length === 1 ? all : all.filter((name) => name !== REWIND)
  return shown.length === 0 ? null : shown.join('+')
}

export function shownAuthors(authors: readonly string[]): readonly string[] {
  return namesOf(authors.map((name) => (name === PERHAPS_PERSON ? PERSON : name)))
}

/** What nobody knows may be the person's. */
export function mayBePersons(authors: Authors): boolean {
  return authors === null || shownAuthors(authors).includes(PERSON)
}

/** Of two changes that have become one. */
export function joinAuthors(one: Authors, other: Authors): Authors {
  return one === null || other === null ? null : namesOf([...one, ...other])
}

/** After the end that was waited for has been seen. */
export function settleAuthors(authors: Authors): Authors {
  return authors?.filter((name) => name !== PERHAPS_PERSON) ?? null
}

type Event = Extract<Moment, { type: 'event' }>

function isEndOf(moment: Moment, { who, session, call }: Task): boolean {
  if (moment.type !== 'event') return false
  return moment.who === who && moment.session === session && moment.ends === call
}

function isOver(moment: Moment, task: Task): boolean {
  if (moment.type !== 'event' || moment.over === undefined) return false
  if (task.who !== moment.who || task.session !== moment.session) return false
  return moment.over === 'session' || task.agentId === moment.agentId
}

/** The end of a call whose beginning was not seen: the agent was at work, and for how long nobody knows. */
function endsUnknown(moment: Moment, ended: readonly Task[]): moment is Event {
  return moment.type === 'event' && moment.ends !== undefined && ended.length === 0
}

function begun(moment: Moment, sinceMs: number): readonly Task[] {
  if (moment.type !== 'event' || moment.begins === undefined) return []
  const { who, session, agentId, begins: call } = moment
  return [
    { who, session, call, sinceMs, unsure: [], ...(agentId === undefined ? {} : { agentId }) },
  ]
}

function withUnsure(task: Task, made: string): Task {
  return task.unsure.length >= MAX_UNSURE ? task : { ...task, unsure: [...task.unsure, made] }
}

function namesOf(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort()
}
