// The findings of `verify`. A finding may have a fix, which `repair` runs and `verify` does not report.
import { resolve } from 'node:path'
import type { Ledger } from '../../ledger/index.js'
import type { Snapshots } from '../../snapshot/index.js'
import type { Clock, SetAside, SharedLock } from '../../system/index.js'

export type ProblemKind =
  | 'cache'
  | 'format'
  | 'interrupted'
  | 'journal'
  | 'ledger'
  | 'leftover'
  | 'lock'
  | 'objects'
  | 'permissions'
  | 'ref'
  | 'repository'
  | 'state'

export type Problem = {
  readonly kind: ProblemKind
  readonly message: string
  readonly checkpoint: string | null
  /** Relative to the store. */
  readonly path?: string
  /** `note`: no data is lost or at risk. */
  readonly severity: 'damage' | 'note'
  /** Whether `savestate repair` fixes it. */
  readonly repairable: boolean
}

/** A store that may be too damaged to open. */
export type RepairContext = {
  readonly home: string
  readonly clock: Clock
  readonly snapshots: Snapshots
  /** Undefined if it cannot be opened; then `ledgerFault` says why. */
  readonly ledger: Ledger | undefined
  readonly ledgerFault: string | undefined
  /** Undefined if the store cannot be opened; then no interrupted operation is finished. */
  readonly objects: SharedLock | undefined
  /** This process holds the locks of all projects. */
  readonly isAlone: boolean
}

/** In order: the checks of a stage rely on the stages before it. */
export const STAGES = [
  'home',
  'ledger',
  'repository',
  'objects',
  'rows',
  'refs',
  'marks',
  'leftovers',
] as const
export type Stage = (typeof STAGES)[number]

export type RepairTools = {
  /** The store as it is now: an earlier step may have rebuilt the ledger. */
  readonly store: RepairContext
  readonly away: SetAside
  /** The folder that `away` moves files to. */
  readonly aside: string
}

export type Fix = {
  readonly stage: Stage
  /** Completes the sentence "Repair will …". */
  readonly action: string
  run(tools: RepairTools): void | Promise<void>
}

export type Finding = Problem & { readonly fix?: Fix }

/** Damage unless `details` say otherwise, and repairable if there is a fix. */
export function finding(
  kind: ProblemKind,
  message: string,
  details: Partial<Omit<Finding, 'kind' | 'message'>> = {},
): Finding {
  const repairable = details.fix !== undefined
  return { kind, message, checkpoint: null, severity: 'damage', repairable, ...details }
}

/** A fix that moves a file or folder of the store to the quarantine folder. */
export function quarantine(path: string, { stage, why }: { stage: Stage; why: string }): Fix {
  return {
    stage,
    action: `quarantine ${path}`,
    run: ({ store, away }) => void away.move(resolve(store.home, path), why),
  }
}

export function problemOf({ fix: _fix, ...problem }: Finding): Problem {
  return problem
}

/** Joins the first names and counts the rest. */
export function some(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).join(', ')
  return names.length <= most ? shown : `${shown} and ${names.length - most} more`
}
