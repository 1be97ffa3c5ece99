// The limits of a prune: what the files say, and what the caller says instead.
import type { Config } from '../model/index.js'

export type PruneInput = {
  readonly retentionDays?: number | undefined
  readonly maxSizeMb?: number | undefined
  readonly maxCheckpoints?: number | undefined
  readonly keepOrphans?: boolean | undefined
  /** Nobody has seen the plan: nothing is dropped because its folder is gone. */
  readonly unattended?: boolean | undefined
}

/** A flag counts more than a file. */
export function withInput(config: Config, input: PruneInput): Config {
  const { retentionDays, maxCheckpoints, maxSizeMb } = input
  return {
    ...config,
    retentionDays: retentionDays ?? config.retentionDays,
    // What is completed is not kept for longer than what is not.
    completedRetentionDays: Math.min(
      config.completedRetentionDays,
      retentionDays ?? config.completedRetentionDays,
    ),
    maxCheckpoints: maxCheckpoints ?? config.maxCheckpoints,
    maxSizeMb: maxSizeMb ?? config.maxSizeMb,
  }
}
