/** Failpoints of `drop` and `clear`, with the call that reaches them. */
export const DROP_POINTS = {
  'drop:rows-removed': `project.drop(['start'])`,
  'clear:rows-removed': 'project.clear()',
} as const
