/** Failpoints of operations that work in slices, and on how many visits a test kills them (tests of long sessions). */
export const SLICE_POINTS = { 'prune:slice-removed': 3, 'import:slice-added': 2 } as const
