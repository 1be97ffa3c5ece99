export type { WorkEvent } from './note-authors.js'
export { type RevertedResult, reverted } from './reverted-files.js'
