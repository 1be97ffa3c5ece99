export type { ObjectReport } from './examine.js'
export type { MendRequest } from './repair-objects.js'
export type { Lack, Lacks } from './lacks.js'
