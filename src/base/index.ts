// Small helpers that every layer may use. This folder imports nothing else of ours, so it loads fast.
export { AGENT_MARKS, AGENT_NAMES, type AgentName } from './agent-names.js'
export {
  agentPermission,
  type AgentPermission,
  aliasesOf,
  COMMAND_EFFECTS,
  commandBehind,
  type Effect,
  effectOf,
} from './command-effects.js'
export { type Fields, fieldsOf, isRecord, tryParseJson } from './json.js'
export { maskNamedValues, maskSecrets } from './mask-secrets.js'
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
export {
  type OutsideCommand,
  type OutsideKind,
  parseOutsideCommands,
} from './outside/outside-command.js'
export { outsideCommands } from './outside/outside-commands.js'
export { type Command, splitLine } from './outside/shell-words.js'
export { hasCode, ifExists, isError, readIfExists } from './system-errors.js'
export { jsonEscape, UNSAFE_CHARACTERS } from './unsafe-characters.js'
export { commandLine, isWithin, plural, shellQuote, singleQuote } from './words.js'
export { RecordedList, type RecordedItem } from './recorded-list.js'
export {
  isObject,
  isPlainArray,
  isPlainDate,
  isUnchanged,
  recordShape,
  type ShapeRecord,
} from './shape-record.js'
export { resolveStorePath, storePath } from './store-path.js'
export { bugsUrl, build, programPath, version } from './version.js'
