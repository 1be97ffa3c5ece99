// What `verify` finds and `repair` puts right. A finding may bring what can be done about it; `verify` leaves that out.
import type { Ledger } from '../ledger/index.js'
import type { Snapshots } from '../snapshot/index.js'
import type { Clock, SetAside, SharedLock } from '../system/index.js'

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
  /** In the store. */
  readonly path?: string
  /** `note`: nothing is lost or at risk by it. */
  readonly severity: 'damage' | 'note'
  /** Whether `savestate repair` ends it. */
  readonly repairable: boolean
}

/** A store as it is, also if it cannot be opened. */
export type CareContext = {
  readonly home: string
  readonly clock: Clock
  readonly snapshots: Snapshots
  /** Undefined if it is so damaged that it cannot be opened; then `ledgerFault` says why. */
  readonly ledger: Ledger | undefined
  readonly ledgerFault: string | undefined
  /** Undefined where nothing may be finished: the store cannot be opened. */
  readonly objects: SharedLock | undefined
  /** This process holds the locks of all projects. */
  readonly isAlone: boolean
  /** Transactions are lost that stood in the write-ahead log. */
  readonly isLogDamaged: boolean
}

/** What has to be right before the next can be judged. */
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
  /** A new look at the store: an earlier step may have made the ledger anew. */
  readonly care: CareContext
  readonly away: SetAside
  /** Where `away` puts things. */
  readonly aside: string
}

export type Fix = {
  readonly stage: Stage
  /** Ends the sentence "Repair will …". */
  readonly action: string
  run(tools: RepairTools): void | Promise<void>
}

export type Finding = Problem & { readonly fix?: Fix }

export function problemOf({ fix: _fix, ...problem }: Finding): Problem {
  return problem
}

/** One line for many alike. */
export function some(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).join(', ')
  return names.length <= most ? shown : `${shown} and ${names.length - most} more`
}
