// Small helpers that every layer may use. They import only Node, so that loading them costs nothing.
export { AGENT_MARKS } from './agent-marks.js'
export { COMMAND_ALIASES, commandBehind, GOING_BACK } from './command-names.js'
export { nearest } from './nearest.js'
export {
  callsReason,
  HIDDEN_PROMPT,
  isPromptReason,
  promptReason,
  quotableReason,
  withoutPromptMark,
  withoutReference,
} from './reason-words.js'
export { resolveStorePath, storePath } from './store-path.js'
export { jsonEscape, UNSAFE_CHARACTERS } from './unsafe-characters.js'
export { bugsUrl, build, programPath, version } from './version.js'
