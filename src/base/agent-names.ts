// The coding agents that we have hooks for, and how a command recognizes that an agent has started it.

export const AGENT_NAMES = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'cursor',
  'cline',
  'copilot',
  'hermes',
] as const
export type AgentName = (typeof AGENT_NAMES)[number]

/**
 * Agents mark the environment of the commands they run. The program refuses some commands if one of these variables is set;
 * the guard refuses a command line that names one together with our program. Recorded in the shells of the real programs,
 * except Cursor's and Cline's, which come from their docs: docs/guide/coding-agents.md.
 */
export const AGENT_MARKS = [
  ['CLAUDECODE', 'claude'],
  ['CODEX_THREAD_ID', 'codex'],
  ['CODEX_SANDBOX', 'codex'],
  ['GEMINI_CLI', 'gemini'],
  ['OPENCODE', 'opencode'],
  ['CURSOR_AGENT', 'cursor'],
  ['CLINE_ACTIVE', 'cline'],
  ['AI_AGENT', undefined],
] as const satisfies readonly (readonly [variable: string, agent: AgentName | undefined])[]
