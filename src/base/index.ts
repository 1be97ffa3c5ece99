// Small things that every layer may use. It imports nothing, so that loading it costs nothing.
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
export { jsonEscape, UNSAFE_CHARACTERS } from './unsafe-characters.js'
export { RecordedList, type RecordedItem } from './recorded-list.js'
export {
  isObject,
  isPlainArray,
  isPlainDate,
  isUnchanged,
  recordShape,
  type ShapeRecord,
} from './shape-record.js'
