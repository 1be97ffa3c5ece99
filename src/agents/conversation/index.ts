export type { AgentCheckpoint, AgentConversationPlan, Conversation } from './conversation.js'
export { describePoint } from './describe-point.js'
export type { ConversationItem } from './items.js'
export { continueCommand } from './continue-command.js'
