export type { ObjectReport } from './examine.js'
export type { ObjectRepair } from './repair-objects.js'
export type { Lack, MissingObjects } from './missing-objects.js'
