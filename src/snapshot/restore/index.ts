export type { LeftOut } from './rules-of-target.js'
export type { Applied } from './apply.js'
export type { Aside } from './asides.js'
export type { PartialMode } from './permissions.js'
