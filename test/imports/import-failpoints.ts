/** On how many visits of each failpoint an import is killed; see import-crash.test.ts. */
export const IMPORT_POINTS = {
  import: {
    'loose:written': 1,
    'loose:named': 2,
    'record:commit-written': 2,
    'record:ref-written': 2,
    'import:before-row': 2,
    'import:after-row': 4,
  },
} as const
