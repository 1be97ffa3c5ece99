export { type Change, totalsOf } from './compare.js'
export type { ContentPatch, Hunk, PatchKind } from './file-patch.js'
export type { Rewritten } from './rewrite-snapshot.js'
export {
  compareSkipped,
  hasEntry,
  printSkipped,
  type SkippedPrint,
  type SkippedPrints,
} from './skipped-fingerprints.js'
