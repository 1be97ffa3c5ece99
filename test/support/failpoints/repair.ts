/** Failpoints of repairing a truncated ledger, and on how many visits a test kills it (damage.test.ts). */
export const REPAIR_POINTS = { 'repair:step': 2, 'rescue:made': 1, 'rescue:moved': 1 } as const
