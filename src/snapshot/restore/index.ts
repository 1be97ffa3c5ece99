export type { LeftOut } from './rules-of-target.js'
export type { Applied } from './apply.js'
export type { Aside } from './aside.js'
export type { PartialMode } from './special-bits.js'
