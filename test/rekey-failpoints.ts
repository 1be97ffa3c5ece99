/** Where a change of the key is killed, and on which visit; see cli/rekey.test.ts. */
export const REKEY_POINTS = {
  'rekey:begun': 1,
  'rekey:batch': 4,
  'rekey:moved': 1,
  'rekey:erased': 1,
} as const
