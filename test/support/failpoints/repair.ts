/** On how many visits of each failpoint a repair of a truncated ledger is killed; see damage.test.ts. */
export const REPAIR_POINTS = { 'repair:step': 2, 'rescue:made': 1, 'rescue:moved': 1 } as const
