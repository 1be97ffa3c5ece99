// The limits of a prune: what the settings say, and what the caller gives in addition.
import type { Config } from '../model/index.js'

export type PruneInput = {
  /** Projects and sessions that were not used for so long go, under either policy. */
  readonly retentionDays?: number | undefined
  readonly maxSizeMb?: number | undefined
  /** Only the newest of each project stay, under either policy. */
  readonly maxCheckpoints?: number | undefined
  readonly keepOrphans?: boolean | undefined
  /** No one has seen the plan: nothing is dropped because its folder is gone. */
  readonly unattended?: boolean | undefined
}

/** As disks are sold, and as we print sizes. */
const MB = 1_000_000

export function capBytesOf(config: Config, { maxSizeMb }: PruneInput): number {
  return Math.floor((maxSizeMb ?? config.maxSizeMb) * MB)
}
