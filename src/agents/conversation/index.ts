export type { AgentCheckpoint, AgentConversationPlan, Conversation } from './conversation.js'
export type {
  ConversationItem,
  ConversationPart,
  ItemText,
} from './items.js'
export type {
  ConversationFormat,
  ReadItemsOptions,
  ReadItemTextOptions,
} from './read-items.js'
export { continueCommand } from './continue-command.js'
export { describePoint } from './describe-point.js'
export { readUncopied, transcriptBytes } from './transcript.js'
