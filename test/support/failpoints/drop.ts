/** Where a `drop` or a `clear` of a project is killed, and in which call. */
export const DROP_POINTS = {
  'drop:rows-removed': `project.drop(['start'])`,
  'clear:rows-removed': 'project.clear()',
} as const
