// Exports for the command line and the daemon: the hooks of coding agents, and their installation. The functions import their
// part on demand, because hooks start often and need none of it.

/** The rules for tool calls also apply to the commands that an agent starts. */
export const guard = () => import('./guard/index.js')

export const installer = () => import('./install/install.js')

export const conversations = () => import('./conversation/conversation.js')
/** Conversations as people read them. */
export const conversationItems = () => import('./conversation/read-items.js')
export const subagents = () => import('./conversation/read-subagent.js')
export * from './conversation/index.js'
export * from './hooks/index.js'
export * from './install/index.js'
export * from './mappers/index.js'
