/** Failpoints of a search that builds its index. */
export const SEARCH_POINTS = { 'search:before-commit': 2 } as const
