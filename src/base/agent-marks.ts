// Agents mark the environment of the commands they run. The program refuses some commands if one of these variables is
// set; the guard refuses a command line that names one together with our program.

/** Recorded in the shells of the real programs, except Cursor's and Cline's, which come from their docs: docs/agents.md. */
export const AGENT_MARKS = [
  ['CLAUDECODE', 'claude'],
  ['CODEX_THREAD_ID', 'codex'],
  ['CODEX_SANDBOX', 'codex'],
  ['GEMINI_CLI', 'gemini'],
  ['OPENCODE', 'opencode'],
  ['CURSOR_AGENT', 'cursor'],
  ['CLINE_ACTIVE', 'cline'],
  ['AI_AGENT', undefined],
] as const
