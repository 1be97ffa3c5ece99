// The door for the command line: the hooks of coding agents, and their installation.

/** The same rules for a command that is run and for one that a hook is told of. */
export const guard = () => import('./guard/index.js')

/** Loaded when it is asked for: hooks start often, and need none of it. */
export const installer = () => import('./install/install.js')

/** The same: only who goes back needs it. */
export const conversations = () => import('./conversation/conversation.js')
export * from './conversation/index.js'
export * from './hooks/index.js'
export * from './install/index.js'
export * from './mappers/index.js'
