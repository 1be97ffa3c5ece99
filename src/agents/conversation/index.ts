export type { AgentCheckpoint, Conversation } from './conversation.js'
export { continueCommand } from './continue-command.js'
