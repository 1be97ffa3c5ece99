export type * from './driver.js'
export { REMOTE_FORMAT } from './driver.js'
export type * from './remote.js'
