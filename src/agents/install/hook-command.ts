// The command that an agent runs for an event. It must work if `savestate` is not on PATH, and must not break the agent if
// Savestate was uninstalled: docs/decisions/0031-launcher.md.
import { type AgentName, singleQuote } from '../../base/index.js'
import { isBeforeTool, MAPPERS } from '../mappers/mappers.js'

export type HookCommand = {
  /** The launcher in the store; undefined in files that a team shares, which must not name a path of this machine. */
  readonly launcher: string | undefined
  readonly strict: boolean
}

type Call = { readonly agent: AgentName; readonly event: string }

/** For a POSIX shell, as one line. Codex users trust exactly this text, so it must rarely change. */
export function commandLine({ launcher, strict }: HookCommand, { agent, event }: Call): string {
  const call = `hook ${agent} ${event}${strict ? ' --strict' : ''}`
  const path = launcher === undefined ? undefined : singleQuote(launcher)
  const line = [
    ...(path === undefined ? [] : [`test -x ${path} && exec ${path} ${call}`]),
    `${FAILS_OPEN} && exec savestate ${call}`,
    ...fallback({ launcher, strict }, { agent, event }),
  ].join('; ')
  // These agents may split the line into words instead of giving it to a shell.
  return SPLITS_WORDS.includes(agent) ? `/bin/sh -c ${singleQuote(line)}` : line
}

/** Part of every current command; older ones lack it. */
export const FAILS_OPEN = 'command -v savestate >/dev/null'

const SPLITS_WORDS: readonly AgentName[] = ['cursor', 'hermes']

/** The end of the line, for the case that Savestate was not found. */
function fallback({ launcher, strict }: HookCommand, { agent, event }: Call): readonly string[] {
  // The plugin for opencode has one line for all events and decides itself which of them can stop a tool.
  if (strict && (agent === 'opencode' || isBeforeTool(agent, event)))
    return [`echo ${singleQuote(STOPPED)} >&2`, 'exit 2']
  const isFirst = MAPPERS[agent].types[event] === 'session-start'
  const isShown = launcher === undefined && isFirst && SYSTEM_MESSAGE.includes(agent)
  const notice = `echo ${singleQuote(JSON.stringify({ systemMessage: NOT_INSTALLED }))}`
  return [...(isShown ? [notice] : []), 'exit 0']
}

/** Agents that show the `systemMessage` of an answer to the user. */
export const SYSTEM_MESSAGE: readonly AgentName[] = ['claude', 'codex', 'gemini']
const NOT_INSTALLED =
  'This agent has hooks for Savestate, but Savestate is not installed here, so nothing is saved.'
const STOPPED = 'Savestate was not found, and its hooks are strict, so the tool was not run.'

/** True for a command of any version of Savestate, wherever the program is. */
export function isOurCommand(command: unknown, agent: AgentName): boolean {
  if (typeof command !== 'string') return false
  const [, inner] = /^\/bin\/sh -c '(.*)'$/s.exec(command) ?? []
  const line = inner === undefined ? command : inner.replaceAll(String.raw`'\''`, "'")
  const call = String.raw`hook (\w+) [\w.]+(?: --strict)?`
  const [, old] = new RegExp(String.raw`^(?:savestate|'.*') ${call}$`).exec(line) ?? []
  const now = new RegExp(
    String.raw`^(?:test -x '.*' && exec '.*' ${call}; )?${FAILS_OPEN} && exec savestate ${call}; `,
  ).exec(line)
  return (old ?? now?.[2]) === agent
}
