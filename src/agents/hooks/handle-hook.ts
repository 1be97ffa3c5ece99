// Handles one event of an agent, from its payload to the answer. Runs in the process of a command hook and in the daemon.
// If something fails, the agent continues, the store records the failure, and the user sees it once per session. Only a
// strict hook stops the tool instead.
import type { AgentName } from '../../base/index.js'
import { findRefusal } from '../guard/guard.js'
import type { Project, Store } from '../../index.js'
import { type AgentEvent, type Answer, EMPTY_ANSWER } from '../mappers/event.js'
import { MAPPERS } from '../mappers/mappers.js'
import {
  describeExcluded,
  findProject,
  type Notes,
  parseNotes,
  type SessionProject,
  addExcluded,
} from './session-notes.js'
import { afterFailedSaves, afterSave } from './turn-state.js'
import { type Decision, decide, type Save } from './policy.js'
import { saveConversation, type TranscriptState } from '../conversation/save-conversation.js'
import {
  errorCode,
  type Failure,
  failureAnswer,
  tryParseEvent,
  typedCommand,
} from './failure-answer.js'
import { findReverted } from './reverted-since.js'

export type HookRequest = {
  readonly agent: AgentName
  readonly eventName: string
  readonly payload: unknown
  /** A failed checkpoint stops the tool. */
  readonly strict?: boolean
  /** Where the hook runs; for events that do not say where they happened. */
  readonly cwd?: string | undefined
  /**
   * Runs a command that the user typed as a prompt, and returns its output; undefined if it is no command of ours after
   * all. Absent in the daemon, which changes no files for its callers.
   */
  readonly runCommand?:
    | ((words: readonly string[], project: Project) => Promise<string | undefined>)
    | undefined
  /** Called with each project before it is saved: the daemon watches it from then on. */
  readonly onProject?: ((project: Project, event: AgentEvent) => void) | undefined
}

/** Never throws. */
export async function handleHook(store: Store, request: HookRequest): Promise<Answer> {
  try {
    const event = MAPPERS[request.agent].parse(request.eventName, request.payload)
    if (event === undefined) return EMPTY_ANSWER
    const refusal = await findRefusal(store, event, request)
    if (refusal !== undefined)
      return MAPPERS[request.agent].answer(event, { type: 'stop', reason: refusal })
    const output = await runTyped(store, event, request)
    if (output !== undefined)
      return MAPPERS[request.agent].answer(event, { type: 'done', text: output })
    const { context, notice } = await saveAt(store, event, request)
    return MAPPERS[request.agent].answer(event, { type: 'continue', context, notice })
  } catch (error) {
    return failHook(store, request, error)
  }
}

/** Runs the command that the prompt consists of, and returns its output; undefined if the prompt is for the model. */
async function runTyped(
  store: Store,
  event: AgentEvent,
  request: HookRequest,
): Promise<string | undefined> {
  const words = typedCommand(event, request)
  if (words === undefined || !store.settings.promptCommands) return undefined
  // The prompt makes no turn. Calls without an end event are saved first, so that their changes are not the user's.
  const { prompt: _, ...fields } = { prompt: undefined, ...event }
  const pause = { ...fields, type: 'turn-end', onlyCalls: true } as const
  const { project } = await saveAt(store, pause, request)
  return (await request.runCommand?.(words, project))?.slice(0, MAX_OUTPUT)
}

/** Claude Code cuts longer answers. */
const MAX_OUTPUT = 9000

/** The answer to an event whose handling failed or took too long. Never throws. */
export async function failHook(
  store: Store,
  request: HookRequest,
  error: unknown,
): Promise<Answer> {
  const event = tryParseEvent(request)
  const isNew = await recordHookFailure(store, request, { event, error })
  return failureAnswer(request, { event, error, isReported: !isNew })
}

/**
 * The answer if the store cannot be opened. Nothing can record whether the user has seen the error, so it is reported
 * whenever a session or a turn starts.
 */
export function answerWithoutStore(request: HookRequest, error: unknown): Answer {
  const event = tryParseEvent(request)
  const isBeginning = event?.type === 'session-start' || event?.type === 'turn-start'
  return failureAnswer(request, { event, error, isReported: !isBeginning })
}

/** Saves a session that sends no events although its folder has changed. True if it saved, or failed to. Never throws. */
export async function saveIdleSession(
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

type Handled = {
  readonly project: Project
  readonly isSaved: boolean
  /** For the model. */
  readonly context?: string | undefined
  /** For the user: the agent works in a folder that no project saves. */
  readonly notice?: string | undefined
}

async function saveAt(
  store: Store,
  event: AgentEvent,
  { cwd, onProject }: Pick<HookRequest, 'cwd' | 'onProject'>,
): Promise<Handled> {
  const key = noteKey(event)
  const before = parseNotes(await store.note(key))
  const { sessionProject, project, excluded } = await findProject(store, before, { event, cwd })
  const isNew = excluded !== undefined && !before.excluded.includes(excluded)
  const notice = isNew ? describeExcluded(excluded) : undefined
  // A session that is new in a project gets no report of earlier rewinds there.
  const isFirst = sessionProject.rewind === undefined
  const asks = isFirst || event.type === 'turn-start'
  const reverted = asks ? await findReverted(store, project, sessionProject.rewind) : undefined
  const { runsToolsTogether } = MAPPERS[event.agent]
  const options = { runsToolsTogether, hidesText: store.isEncrypted }
  let decision: Decision = { saves: [], state: before.turnState }
  await changeNotes(store, key, (notes) => {
    decision = decide(event, notes.turnState, options)
    // As if the saves had succeeded; corrected below if one fails.
    const turnState = decision.saves.reduce(afterSave, decision.state)
    const projects = withProject(notes.projects, sessionProject, reverted?.newest)
    return { ...notes, projects, turnState, excluded: addExcluded(notes, excluded) }
  })
  const { saves } = decision
  if (saves.length === 0 && event.type !== 'session-end') return { project, isSaved: false, notice }
  onProject?.(project, event)
  try {
    await makeSaves(store, event, { project, id: sessionProject.session, saves })
  } catch (error) {
    await changeNotes(store, key, (notes) => ({
      ...notes,
      turnState: afterFailedSaves(notes.turnState, decision),
      projects: notes.projects.map((one) =>
        one.root === sessionProject.root ? { ...one, ...sessionProject } : one,
      ),
    }))
    throw error
  }
  // The next failure is worth reporting again.
  if (saves.length > 0 && before.reported.length > 0)
    await changeNotes(store, key, (notes) => ({ ...notes, reported: [] }))
  const context = isFirst ? undefined : reverted?.text
  return { project, isSaved: saves.length > 0, context, notice }
}

/** In order of first use. `newest`: the latest rewind that the session knows of from now on. */
function withProject(
  projects: readonly SessionProject[],
  here: SessionProject,
  newest: string | null | undefined,
): readonly SessionProject[] {
  const known = newest === undefined ? {} : { rewind: newest }
  if (!projects.some(({ root }) => root === here.root)) return [...projects, { ...here, ...known }]
  return projects.map((sessionProject) =>
    sessionProject.root === here.root ? { ...sessionProject, ...known } : sessionProject,
  )
}

async function makeSaves(
  store: Store,
  event: AgentEvent,
  { project, id, saves }: { readonly project: Project; id: string; saves: readonly Save[] },
): Promise<void> {
  const create = saves.length > 0
  // Hooks of one session run concurrently; the project lock serializes their saves.
  const session = await store
    .session<TranscriptState>(id, { agent: event.agent, project, lease: false, create })
    .catch((error: unknown) => {
      if (errorCode(error) !== 'SESSION_UNKNOWN') throw error
      return undefined
    })
  // The agent ended without having saved anything.
  if (session === undefined) return
  try {
    if (event.type === 'turn-start') await session.newTurn()
    for (const save of saves) await saveConversation(store, { session, event, save })
    if (event.type === 'session-end') await session.complete()
  } finally {
    await session.close()
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
    // Losing a note costs a less precise label, never a file.
    mayBeLost: true,
    change: (before) => JSON.stringify(change(parseNotes(before))),
  })
}

/** A session that is resumed later starts with empty notes. */
const KEEP_DAYS = 90

/** True if this is the first of its kind in the session. */
async function recordHookFailure(
  store: Store,
  request: HookRequest,
  { event, error }: Pick<Failure, 'event' | 'error'>,
): Promise<boolean> {
  let isNew = true
  const code = errorCode(error)
  try {
    const operation = `hook ${request.agent} ${request.eventName.slice(0, 100)}`
    // Refusing an agent in a home folder is by design: the user sees it once, and `status` lists no failure.
    if (code !== 'PROJECT_REFUSED')
      await store.recordFailure({ operation, project: event?.cwd ?? null, error })
    if (event === undefined) return true
    await changeNotes(store, noteKey(event), (notes) => {
      isNew = !notes.reported.includes(code)
      return isNew ? { ...notes, reported: [...notes.reported, code] } : notes
    })
  } catch {
    // Without a writable store we cannot know whether the user has seen it. Twice is better than never.
  }
  return isNew
}

function noteKey({ agent, sessionId }: AgentEvent): string {
  return `hook:${agent}:${sessionId}`
}
