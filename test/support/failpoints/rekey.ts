/** Where a change of the key is killed, and on which visit; see test/cli/commands/rekey.test.ts. */
export const REKEY_POINTS = {
  'rekey:hidden': 1,
  'rekey:copied': 1,
  'rekey:replaced': 1,
} as const

/** The points where reasons are hidden; reached only if hooks have written some. */
export const HIDE_POINTS = {
  'rekey:written': 1,
  'commits:refs-beside': 1,
  'commits:rows': 1,
  'commits:refs': 1,
} as const
