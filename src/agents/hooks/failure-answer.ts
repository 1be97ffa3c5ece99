// The answers of hooks that failed: the agent continues, and the user sees why. A strict hook stops the tool, and a command
// that the user typed as a prompt gets its error.
import { AGENT_NAMES, tryParseJson } from '../../base/index.js'
import { SavestateError } from '../../index.js'
import { type AgentEvent, type Answer, type Outcome, EMPTY_ANSWER } from '../mappers/event.js'
import { isBeforeTool, isPrompt, MAPPERS } from '../mappers/mappers.js'
import type { HookRequest } from './handle-hook.js'
import { commandOf } from './prompt-command.js'

const NOT_RUN = 'The hook is strict, so the tool was not run.'
/** Agents take this exit code for a refusal. */
const STOPPED = 2

export type Failure = {
  readonly event: AgentEvent | undefined
  readonly error: unknown
  readonly isReported: boolean
}

export function failureAnswer(request: HookRequest, { event, error, isReported }: Failure): Answer {
  const { agent, eventName, strict } = request
  const text = failureText(error)
  const isStopped = strict === true && isBeforeTool(agent, eventName)
  // A payload that cannot be read has no event to answer: the exit code has to stop the tool.
  if (event === undefined) {
    if (isStopped) return { ...EMPTY_ANSWER, stderr: `${text} ${NOT_RUN}\n`, exitCode: STOPPED }
    return { ...EMPTY_ANSWER, stderr: isReported ? '' : `${text}\n` }
  }
  if (typedCommand(event, request) !== undefined)
    return MAPPERS[agent].answer(event, { type: 'done', text: commandFailure(error) })
  const outcome: Outcome = isStopped
    ? { type: 'stop', reason: `${text} ${NOT_RUN}` }
    : {
        type: 'continue',
        notice: isReported ? undefined : `${text} The agent continues without it.`,
      }
  return MAPPERS[agent].answer(event, outcome)
}

function commandFailure(error: unknown): string {
  return errorCode(error) === 'INTERRUPTED'
    ? 'Savestate did not finish this command in time. The next one finishes a rewind that had started: run `savestate status` in a terminal.'
    : failureText(error, 'Savestate did not run this command')
}

export function typedCommand(
  event: AgentEvent,
  request: HookRequest,
): readonly string[] | undefined {
  return request.runCommand === undefined ? undefined : commandOf(event)
}

/** Whether the event is a prompt that only a process outside of the daemon may answer. */
export function isTypedCommand(
  agent: string,
  { eventName, input }: { readonly eventName: string; readonly input: string | undefined },
): boolean {
  const name = AGENT_NAMES.find((one) => one === agent)
  // The payloads of other events can be large.
  if (name === undefined || !isPrompt(name, eventName)) return false
  const event = tryParseEvent({ agent: name, eventName, payload: tryParseJson(input) })
  return event !== undefined && commandOf(event) !== undefined
}

export function tryParseEvent({ agent, eventName, payload }: HookRequest): AgentEvent | undefined {
  try {
    return MAPPERS[agent].parse(eventName, payload)
  } catch (error) {
    if (error instanceof SavestateError) return undefined
    throw error
  }
}

export function errorCode(error: unknown): string {
  return error instanceof SavestateError ? error.code : 'INTERNAL'
}

function failureText(error: unknown, what = 'Savestate made no checkpoint'): string {
  const { message, hint } =
    error instanceof SavestateError
      ? error
      : { message: error instanceof Error ? error.message : String(error), hint: null }
  // The usual hint for a refused folder is about `-C`, which does not help a user who starts an agent.
  const isRefused = errorCode(error) === 'PROJECT_REFUSED'
  const shown = isRefused ? 'Start the agent in a project folder to have its work saved.' : hint
  const sentence = /[.?!]$/.test(message) ? message : `${message}.`
  const text = `${what} (${errorCode(error)}): ${sentence}`
  return (shown === null ? text : `${text} ${shown}`).slice(0, 2000)
}
