export type { Answer } from './event.js'
export { isBeforeTool } from './mappers.js'
