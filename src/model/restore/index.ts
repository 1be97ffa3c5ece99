export * from './author.js'
export * from './path-owners.js'
export * from './restore-plan.js'
export * from './undo-stack.js'
