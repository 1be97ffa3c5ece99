export type { SourceCommit } from './source-history.js'
export { sourceHead, sourceRefs } from './source-refs.js'
