/** On how many visits of each failpoint an operation that works in slices is killed; see the tests of long sessions. */
export const SLICE_POINTS = { 'prune:slice-removed': 3, 'import:slice-added': 2 } as const
