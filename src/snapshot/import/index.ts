export { type SourceCommit, sourceHead, sourceRefs } from './source-history.js'
