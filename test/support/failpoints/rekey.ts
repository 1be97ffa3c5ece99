/** Failpoints of a rekey, and on which visit a test kills it (test/cli/commands/rekey.test.ts). */
export const REKEY_POINTS = {
  'rekey:hidden': 1,
  'rekey:copied': 1,
  'rekey:replaced': 1,
} as const

/** Failpoints of hiding reasons; reached only if hooks have written some. */
export const HIDE_POINTS = {
  'rekey:written': 1,
  'commits:refs-beside': 1,
  'commits:rows': 1,
  'commits:refs': 1,
} as const
