export type { CaptureProgress } from './progress.js'
export { excludedFolder } from './scan/excluded-folder.js'
export type { Captured } from './capture-target.js'
