// One event of an agent, from its payload to the answer: mapped, decided, saved. Runs in the process of a command
// hook and in any other that has a store open. Whatever goes wrong, the agent goes on, the failure is noted in the
// store, and the person is told once; only a strict hook stops the tool instead.
import { refusalOf } from '../guard/refusal.js'
import { type Project, SavestateError, type Session, type Store } from '../../index.js'
import { type AgentEvent, type AgentName, type Answer, type Outcome, SILENCE } from './event.js'
import { isBeforeTool, MAPPERS } from './mappers.js'
import {
  exclusionText,
  findPlace,
  type Found,
  type Notes,
  parseNotes,
  type Place,
  withExcluded,
} from './notes.js'
import { type Decision, decide, type Save, settled } from './policy.js'
import { saveTalk, type Talk } from './save-talk.js'
import { revertedSince } from './reverted-since.js'

export type HookRequest = {
  readonly agent: AgentName
  readonly eventName: string
  readonly payload: unknown
  /** A failed checkpoint stops the tool. */
  readonly strict?: boolean
  /** Where the hook runs; for events that do not say where they happened. */
  readonly cwd?: string | undefined
  /** Told of every project before it is saved: whoever stays may want to watch it. */
  readonly onProject?: ((project: Project, event: AgentEvent) => void) | undefined
}

/** Never throws. */
export async function handleHook(store: Store, request: HookRequest): Promise<Answer> {
  try {
    const event = MAPPERS[request.agent].parse(request.eventName, request.payload)
    if (event === undefined) return SILENCE
    const refusal = await refusalOf(store, event, request)
    if (refusal !== undefined)
      return MAPPERS[request.agent].answer(event, { type: 'stop', reason: refusal })
    const { context, tell } = await saveAt(store, event, request)
    return MAPPERS[request.agent].answer(event, { type: 'go-on', context, tell })
  } catch (error) {
    return failHook(store, request, error)
  }
}

/** The answer to an event that could not be handled, or not in time. Never throws. */
export async function failHook(
  store: Store,
  request: HookRequest,
  error: unknown,
): Promise<Answer> {
  const event = parsedOrUndefined(request)
  const isNew = await noteFailure(store, { request, event, error })
  return failureAnswer(request, { event, error, isTold: !isNew })
}

/** For what keeps a store from being opened at all: told when a session or a turn begins, since nothing remembers it. */
export function answerWithoutStore(request: HookRequest, error: unknown): Answer {
  const event = parsedOrUndefined(request)
  const isBeginning = event?.type === 'session-start' || event?.type === 'turn-start'
  return failureAnswer(request, { event, error, isTold: !isBeginning })
}

/** For a session that is silent while its folder has changed. True if there was something to save, or may be still. Never throws. */
export async function saveAtQuiet(
  store: Store,
  event: Extract<AgentEvent, { type: 'quiet' }>,
): Promise<boolean> {
  try {
    return (await saveAt(store, event, {})).isSaved
  } catch (error) {
    const operation = `hook ${event.agent} ${event.eventName}`
    await store.recordFailure({ operation, project: event.cwd ?? null, error }).catch(() => {
      // A store that takes no note is told of by the next hook.
    })
    return true
  }
}

const NOT_RUN = 'The hook is strict, so the tool was not run.'
/** What agents take for a refusal. */
const STOPPED = 2

type Failure = {
  readonly event: AgentEvent | undefined
  readonly error: unknown
  readonly isTold: boolean
}

function failureAnswer(request: HookRequest, { event, error, isTold }: Failure): Answer {
  const { agent, eventName, strict } = request
  const text = failureText(error)
  const isStopped = strict === true && isBeforeTool(agent, eventName)
  // A payload that nobody can read has no event that could be answered: the exit code has to stop the tool.
  if (event === undefined) {
    if (isStopped) return { ...SILENCE, stderr: `${text} ${NOT_RUN}\n`, exitCode: STOPPED }
    return { ...SILENCE, stderr: isTold ? '' : `${text}\n` }
  }
  const outcome: Outcome = isStopped
    ? { type: 'stop', reason: `${text} ${NOT_RUN}` }
    : { type: 'go-on', tell: isTold ? undefined : `${text} The agent continues without it.` }
  return MAPPERS[agent].answer(event, outcome)
}

type Handled = {
  /** Whether there was something to save. */
  readonly isSaved: boolean
  /** For the model, if this is the place to tell it something. */
  readonly context?: string | undefined
  /** For the user: the agent works where nothing is saved. */
  readonly tell?: string | undefined
}

async function saveAt(
  store: Store,
  event: AgentEvent,
  { cwd, onProject }: Pick<HookRequest, 'cwd' | 'onProject'>,
): Promise<Handled> {
  const key = noteKey(event)
  const before = parseNotes(await store.note(key))
  const { place, excluded } = await placeOf(store, before, { event, cwd })
  const tell =
    excluded === undefined || before.excluded.includes(excluded)
      ? undefined
      : exclusionText(excluded)
  const { runsToolsTogether } = MAPPERS[event.agent]
  const options = { runsToolsTogether, isDiscreet: store.isEncrypted }
  let decision: Decision = { saves: [], memory: before.memory, isNewTurn: false }
  await changeNotes(store, key, (notes) => {
    decision = decide(event, notes.memory, options)
    const places = placesWith(notes.places, place)
    return { ...notes, places, memory: decision.memory, excluded: withExcluded(notes, excluded) }
  })
  const made = await makeSaves(store, { event, place, decision, onProject })
  if (made.length === 0) return { isSaved: false, tell }
  const reverted = event.type === 'turn-start' ? await revertedSince(store, place) : undefined
  // What is saved is no debt any more, and the next failure is worth telling again.
  await changeNotes(store, key, (notes) => {
    const memory = made.reduce(settled, notes.memory)
    const { newest } = reverted ?? {}
    return { ...notes, places: placesWith(notes.places, place, newest), memory, told: [] }
  })
  return { isSaved: true, context: reverted?.text, tell }
}

/** A session that comes to a project is told of no rewind that was done there before. */
async function placeOf(
  store: Store,
  notes: Notes,
  at: { readonly event: AgentEvent; readonly cwd: string | undefined },
): Promise<Found> {
  const found = await findPlace(store, notes, at)
  const { place } = found
  if (place.rewind !== undefined) return found
  const reverted = await revertedSince(store, place)
  return reverted === undefined ? found : { ...found, place: { ...place, rewind: reverted.newest } }
}

/** In their order: the first is where the session began. `told`: the rewind that it was told of just now. */
function placesWith(places: readonly Place[], here: Place, told?: string | null): readonly Place[] {
  const isKnown = places.some(({ root }) => root === here.root)
  if (!isKnown) return [...places, here]
  return places.map((place) => {
    if (place.root !== here.root) return place
    // Another hook may have told of a newer one meanwhile.
    return { ...here, rewind: told !== undefined ? told : (place.rewind ?? here.rewind) }
  })
}

type Making = {
  readonly event: AgentEvent
  readonly place: Place
  readonly decision: Decision
  readonly onProject: HookRequest['onProject']
}

async function makeSaves(
  store: Store,
  { event, place, decision, onProject }: Making,
): Promise<readonly Save[]> {
  const isEnd = event.type === 'session-end'
  if (decision.saves.length === 0 && !isEnd) return []
  const project = await store.project(place.root)
  onProject?.(project, event)
  const mustExist = decision.saves.length === 0
  const session = await openSession(store, { event, project, id: place.session, mustExist })
  // An agent that was started and left again has nothing to end.
  if (session === undefined) return []
  try {
    if (decision.isNewTurn) await session.newTurn()
    for (const save of decision.saves) await saveTalk(store, { session, event, save })
    if (isEnd) await session.complete()
    return decision.saves
  } finally {
    await session.close()
  }
}

async function openSession(
  store: Store,
  {
    event,
    project,
    id,
    mustExist,
  }: {
    readonly event: AgentEvent
    readonly project: Project
    readonly id: string
    readonly mustExist: boolean
  },
): Promise<Session<Talk> | undefined> {
  try {
    // Hooks of one session run at once; the lock of the project puts their saves in order.
    return await store.session(id, { agent: event.agent, project, lease: false, mustExist })
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'SESSION_UNKNOWN') return undefined
    throw error
  }
}

async function changeNotes(
  store: Store,
  key: string,
  change: (notes: Notes) => Notes,
): Promise<void> {
  await store.changeNote({
    key,
    keepDays: KEEP_DAYS,
    // Without them the next row is named less well; no file is lost.
    mayBeLost: true,
    change: (before) => JSON.stringify(change(parseNotes(before))),
  })
}

/** A session that is resumed later begins its notes anew. */
const KEEP_DAYS = 90

/** True if this is the first of its kind in the session. */
async function noteFailure(
  store: Store,
  {
    request,
    event,
    error,
  }: { request: HookRequest; event: AgentEvent | undefined; error: unknown },
): Promise<boolean> {
  let isNew = true
  try {
    const operation = `hook ${request.agent} ${request.eventName.slice(0, 100)}`
    // An agent in a home folder is refused by design: the user hears of it once, and `status` has no failure.
    if (codeOf(error) !== 'PROJECT_REFUSED')
      await store.recordFailure({ operation, project: event?.cwd ?? null, error })
    if (event === undefined) return true
    const code = codeOf(error)
    await changeNotes(store, noteKey(event), (notes) => {
      isNew = !notes.told.includes(code)
      return isNew ? { ...notes, told: [...notes.told, code] } : notes
    })
  } catch {
    // A store that takes no note of the failure cannot say whether it was told: better twice than never.
  }
  return isNew
}

function parsedOrUndefined({ agent, eventName, payload }: HookRequest): AgentEvent | undefined {
  try {
    return MAPPERS[agent].parse(eventName, payload)
  } catch (error) {
    if (error instanceof SavestateError) return undefined
    throw error
  }
}

function noteKey({ agent, sessionId }: AgentEvent): string {
  return `hook:${agent}:${sessionId}`
}

function codeOf(error: unknown): string {
  return error instanceof SavestateError ? error.code : 'INTERNAL'
}

function failureText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const hint = hintOf(error)
  const sentence = /[.?!]$/.test(message) ? message : `${message}.`
  return `Savestate made no checkpoint (${codeOf(error)}): ${sentence}${hint}`.slice(0, 2000)
}

/** The usual hint of a refused folder is about `-C`, which is of no use to someone who starts an agent. */
function hintOf(error: unknown): string {
  if (!(error instanceof SavestateError)) return ''
  if (error.code === 'PROJECT_REFUSED')
    return ' Start the agent in a project folder to have its work saved.'
  return error.hint === null ? '' : ` ${error.hint}`
}
