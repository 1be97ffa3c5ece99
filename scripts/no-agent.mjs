// Removes the environment variables by which agents are recognized (src/base/agent-marks.ts). Our own scripts and tests run
// commands as a user, even if an agent started them.
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
