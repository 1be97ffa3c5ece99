export type { AdoptResult } from './adopt.js'
export type { AttemptView, CompareResult } from './compare.js'
export type { DependencyMode } from './dependencies.js'
export type { OpenResult } from './open.js'
