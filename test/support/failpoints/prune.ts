/** Failpoints of a prune, and on how many visits of each a test kills it (collect-crash.test.ts). */
export const PRUNE_POINTS = {
  'prune:project-rows-removed': 2,
  'prune:rows-removed': 1,
  'refs:packed': 1,
  'collect:packed': 1,
  'collect:named': 2,
  'collect:repacked': 1,
  'collect:loose-removed': 1,
  'collect:pack-removed': 2,
  'backup:written': 1,
} as const
