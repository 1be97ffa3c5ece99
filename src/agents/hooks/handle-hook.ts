// One event of an agent, from its payload to the answer: mapped, decided, saved. Runs in the process of a command
// hook and in any other that has a store open. If something fails, the agent continues, the failure is recorded in the
// store, and the user hears of it once; only a strict hook stops the tool instead.
import { type AgentName } from '../../base/index.js'
import { refusalOf } from '../guard/refusal.js'
import { type Project, SavestateError, type Session, type Store } from '../../index.js'
import { type AgentEvent, type Answer, type Outcome, SILENCE } from '../mappers/event.js'
import { isBeforeTool, MAPPERS } from '../mappers/mappers.js'
import {
  exclusionText,
  findPlace,
  type Notes,
  parseNotes,
  type Place,
  withExcluded,
} from './session-notes.js'
import { afterFailedSaves, afterSave } from './turn-state.js'
import { type Decision, decide } from './policy.js'
import { saveConversation, type TranscriptState } from '../conversation/save-conversation.js'
import { revertedSince } from './reverted-since.js'

export type HookRequest = {
  readonly agent: AgentName
  readonly eventName: string
  readonly payload: unknown
  /** A failed checkpoint stops the tool. */
  readonly strict?: boolean
  /** Where the hook runs; for events that do not say where they happened. */
  readonly cwd?: string | undefined
  /** Called with each project before it is saved: the daemon watches it from then on. */
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
  return failureAnswer(request, { event, error, isReported: !isNew })
}

/** For an error that keeps the store from being opened: reported when a session or a turn begins, since nothing is recorded. */
export function answerWithoutStore(request: HookRequest, error: unknown): Answer {
  const event = parsedOrUndefined(request)
  const isBeginning = event?.type === 'session-start' || event?.type === 'turn-start'
  return failureAnswer(request, { event, error, isReported: !isBeginning })
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
      // If the store cannot be written, the next hook reports that.
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
  readonly isReported: boolean
}

function failureAnswer(request: HookRequest, { event, error, isReported }: Failure): Answer {
  const { agent, eventName, strict } = request
  const text = failureText(error)
  const isStopped = strict === true && isBeforeTool(agent, eventName)
  // A payload that cannot be read has no event to answer: the exit code has to stop the tool.
  if (event === undefined) {
    if (isStopped) return { ...SILENCE, stderr: `${text} ${NOT_RUN}\n`, exitCode: STOPPED }
    return { ...SILENCE, stderr: isReported ? '' : `${text}\n` }
  }
  const outcome: Outcome = isStopped
    ? { type: 'stop', reason: `${text} ${NOT_RUN}` }
    : { type: 'go-on', tell: isReported ? undefined : `${text} The agent continues without it.` }
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
  const { place, project, excluded } = await findPlace(store, before, { event, cwd })
  const isNew = excluded !== undefined && !before.excluded.includes(excluded)
  const tell = isNew ? exclusionText(excluded) : undefined
  // A session that comes to a project hears of no rewind that was done there before.
  const isFirst = place.rewind === undefined
  const asks = isFirst || event.type === 'turn-start'
  const reverted = asks ? await revertedSince(store, project, place.rewind) : undefined
  const { runsToolsTogether } = MAPPERS[event.agent]
  const options = { runsToolsTogether, isDiscreet: store.isEncrypted }
  let decision: Decision = { saves: [], state: before.turnState, isNewTurn: false }
  await changeNotes(store, key, (notes) => {
    decision = decide(event, notes.turnState, options)
    // As if the saves were made already: a failed one is put right below.
    const turnState = decision.saves.reduce(afterSave, decision.state)
    const places = placesWith(notes.places, place, reverted?.newest)
    return { ...notes, places, turnState, excluded: withExcluded(notes, excluded) }
  })
  const { saves } = decision
  if (saves.length === 0 && event.type !== 'session-end') return { isSaved: false, tell }
  onProject?.(project, event)
  try {
    await makeSaves(store, { event, project, place, decision })
  } catch (error) {
    await changeNotes(store, key, (notes) => ({
      ...notes,
      turnState: afterFailedSaves(notes.turnState, decision),
      places: notes.places.map((one) => (one.root === place.root ? { ...one, ...place } : one)),
    }))
    throw error
  }
  // The next failure is worth reporting again.
  if (saves.length > 0 && before.reported.length > 0)
    await changeNotes(store, key, (notes) => ({ ...notes, reported: [] }))
  return { isSaved: saves.length > 0, context: isFirst ? undefined : reverted?.text, tell }
}

/** In their order: the first is where the session began. `newest`: the rewind that it knows of from now on. */
function placesWith(
  places: readonly Place[],
  here: Place,
  newest: string | null | undefined,
): readonly Place[] {
  const known = newest === undefined ? {} : { rewind: newest }
  if (!places.some(({ root }) => root === here.root)) return [...places, { ...here, ...known }]
  return places.map((place) => (place.root === here.root ? { ...place, ...known } : place))
}

type Making = {
  readonly event: AgentEvent
  readonly project: Project
  readonly place: Place
  readonly decision: Decision
}

async function makeSaves(store: Store, { event, project, place, decision }: Making): Promise<void> {
  const mustExist = decision.saves.length === 0
  const session = await openSession(store, { event, project, id: place.session, mustExist })
  // An agent that was started and left again has nothing to end.
  if (session === undefined) return
  try {
    if (decision.isNewTurn) await session.newTurn()
    for (const save of decision.saves) await saveConversation(store, { session, event, save })
    if (event.type === 'session-end') await session.complete()
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
): Promise<Session<TranscriptState> | undefined> {
  try {
    // Hooks of one session run at once; the lock of the project puts their saves in order.
    return await store.session(id, {
      agent: event.agent,
      project,
      lease: false,
      create: !mustExist,
    })
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

/** A session that is resumed later starts with empty notes. */
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
      isNew = !notes.reported.includes(code)
      return isNew ? { ...notes, reported: [...notes.reported, code] } : notes
    })
  } catch {
    // If the store cannot be written, it is not known whether the failure was reported: better twice than never.
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
