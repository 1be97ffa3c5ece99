export type * from './remote.js'
