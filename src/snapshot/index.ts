export type { Change } from './compare.js'
export { refuseUnsafeFolder } from './guard.js'
export type { Captured, CaptureProgress } from './project-capture.js'
export { type OnProgress, type RestoreTarget, Snapshots } from './snapshots.js'
