// The marks that agents set in the environment of what they run (src/base/agent-marks.ts), taken away. Our own scripts and
// tests play a person's part, whoever has started them.
export const NO_AGENT = {
  CLAUDECODE: '',
  CODEX_THREAD_ID: '',
  CODEX_SANDBOX: '',
  GEMINI_CLI: '',
  OPENCODE: '',
  CURSOR_AGENT: '',
  CLINE_ACTIVE: '',
  AI_AGENT: '',
}
