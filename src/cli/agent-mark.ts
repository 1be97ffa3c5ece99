// Whether an agent has started this process: agents mark the environment of what they run. Part of every start of the
// program, so it loads nothing.
import type { AgentName } from '../adapters/index.js'

export type AgentMark = {
  readonly variable: string
  /** Undefined for one that we do not know. */
  readonly agent: AgentName | undefined
}

/** Seen in the shells of the real programs, but for Cursor and Cline, which are on paper: docs/agents.md. */
export const MARKS: readonly (readonly [variable: string, agent: AgentName | undefined])[] = [
  ['CLAUDECODE', 'claude'],
  ['CODEX_THREAD_ID', 'codex'],
  ['CODEX_SANDBOX', 'codex'],
  ['GEMINI_CLI', 'gemini'],
  ['OPENCODE', 'opencode'],
  ['CURSOR_AGENT', 'cursor'],
  ['CLINE_ACTIVE', 'cline'],
  ['AI_AGENT', undefined],
]

export function agentMark(environment: NodeJS.ProcessEnv): AgentMark | undefined {
  const found = MARKS.find(([variable]) => (environment[variable] ?? '') !== '')
  return found === undefined ? undefined : { variable: found[0], agent: found[1] }
}
