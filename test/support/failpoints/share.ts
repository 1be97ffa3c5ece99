/** On how many visits of each failpoint an import of packs is killed; see test/snapshot/bundles/import-crash.test.ts. */
export const FETCH_POINTS = { 'share:fetched': 1 } as const
