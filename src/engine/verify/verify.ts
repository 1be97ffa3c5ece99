// Checks the store, each part before those that depend on it. Continues after damage as far as possible: a damaged part must not
// hide the condition of the others.
import * as z from 'zod/mini'
import type { Ledger } from '../../ledger/index.js'
import type { ObjectReport } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import { type RepairContext, type Finding, finding, type Problem, problemOf } from './findings.js'
import type { Callbacks } from '../operation/callbacks.js'
import { storeOperation } from '../operation/operation.js'
import { recoverAll } from '../restore/recover.js'
import { checkCompleteness } from './verify-damage.js'
import {
  checkFormat,
  checkLeftovers,
  checkLocks,
  checkPermissions,
  listHome,
} from './verify-home.js'
import { checkJournals } from './verify-journals.js'
import { checkFileTypes } from './verify-file-types.js'
import { checkObjectFiles, checkRepository } from './verify-objects.js'
import { checkRefs } from './verify-refs.js'
import { checkLedgerFile, checkRows } from './verify-rows.js'
import { isError } from '../../model/index.js'

export type VerifyResult = {
  readonly checkpoints: number
  readonly problems: readonly Problem[]
  /** Only the structure was checked, not the content. */
  readonly quick: boolean
}

export const verify = storeOperation({
  name: 'verify',
  summary: 'Check that the store is intact',
  effect: 'reads',
  input: () => z.strictObject({ quick: z._default(z.boolean(), false) }),
  async run(context, { quick }, callbacks): Promise<VerifyResult> {
    return verifyDamaged(
      { ...context, ledgerFault: undefined, isAlone: false },
      { quick },
      callbacks,
    )
  },
})

/** Like `verify`, for a store that perhaps cannot be opened. */
export async function verifyDamaged(
  store: RepairContext,
  { quick }: { readonly quick: boolean },
  callbacks: Callbacks,
): Promise<VerifyResult> {
  await finishInterrupted(store, callbacks)
  callbacks.signal?.throwIfAborted()
  const findings = await examineTwice(store, { quick }, callbacks)
  const isOpen = store.ledger !== undefined && isReadable(findings)
  return {
    checkpoints: isOpen ? (store.ledger?.rowChecks.allIds().size ?? 0) : 0,
    problems: findings.map(problemOf),
    quick,
  }
}

/**
 * For a store that other processes may be using. They save and prune meanwhile, so the parts of one examination may disagree: only
 * what a second examination finds too is damage. The shared lock keeps a collection from removing objects.
 */
export async function examineTwice(
  store: RepairContext,
  { quick }: { readonly quick: boolean },
  callbacks: Callbacks,
): Promise<Finding[]> {
  const once = () => examine(store, { quick }, callbacks)
  // With damaged locks no process can run a collection, and the shared lock cannot be taken.
  if (store.objects === undefined || checkLocks(store).length > 0) return once()
  return store.objects.shared(async () => {
    const first = await once()
    if (!first.some(isDamage)) return first
    const again = await once()
    const isFoundAgain = (finding: Finding) =>
      again.some(
        ({ kind, checkpoint, message }) =>
          kind === finding.kind && checkpoint === finding.checkpoint && message === finding.message,
      )
    return first.filter((finding) => !isDamage(finding) || isFoundAgain(finding))
  })
}

function isDamage({ severity }: Finding): boolean {
  return severity === 'damage'
}

/** An operation that cannot be finished is reported as a problem. */
async function finishInterrupted(store: RepairContext, callbacks: Callbacks): Promise<void> {
  const { ledger } = store
  if (ledger === undefined || store.objects === undefined) return
  const context: StoreContext = { ...store, ledger, objects: store.objects }
  await recoverAll(context, callbacks).catch((error: unknown) => {
    const message = isError(error) ? error.message : String(error)
    callbacks.onWarning?.(`Interrupted work could not be checked: ${message}.`)
  })
}

/** A single examination, for callers that keep all other processes out. */
export async function examine(
  store: RepairContext,
  { quick }: { readonly quick: boolean },
  callbacks: Callbacks,
): Promise<Finding[]> {
  const kinds = checkFileTypes(store)
  if (kinds.length > 0) return kinds
  const paths = listHome(store.home)
  const home = [...checkFormat(store), ...checkPermissions(store, paths), ...checkLocks(store)]
  const file = checkLedgerFile(store, { quick })
  const ledger = isReadable(file) ? store.ledger : undefined
  const rows = ledger?.rowChecks.filesRows() ?? []
  const report = await store.snapshots.examine(
    {
      quick,
      snapshots: [...new Set(rows.map(({ tree }) => tree))],
      commits: rows.map(({ commit }) => commit),
    },
    callbacks,
  )
  callbacks.signal?.throwIfAborted()
  const repository = checkRepository(store, report)
  const journals = await checkJournals(store, ledger)
  const found = [...home, ...file, ...repository, ...journals]
  if (report.folders.length + report.repository.length > 0) return found
  const objects = checkObjectFiles(store, report)
  const inside = ledger === undefined ? [] : checkInside(store, ledger, { quick, report })
  const known = new Set(ledger?.projects().map(({ project }) => String(project.id)))
  // Without a ledger we cannot tell which project a leftover belongs to.
  const left =
    ledger === undefined ? [] : checkLeftovers(store, { paths, known, caches: report.caches })
  const isExplained = [...repository, ...objects, ...inside].some(isDamage)
  const other = isExplained ? [] : report.fsck.map((message) => finding('objects', message))
  return [...found, ...objects, ...inside, ...other, ...left]
}

function checkInside(
  store: RepairContext,
  ledger: Ledger,
  { quick, report }: { readonly quick: boolean; readonly report: ObjectReport },
): Finding[] {
  const rows = checkRows(ledger, report)
  // The other checks cannot read malformed rows.
  if (ledger.rowChecks.rowFaults().length > 0) return rows
  return [
    ...rows,
    ...checkRefs(store, ledger, report),
    ...checkCompleteness(ledger, report, { quick }),
  ]
}

function isReadable(findings: readonly Finding[]): boolean {
  return !findings.some(({ path, severity }) => path === 'ledger.db' && severity === 'damage')
}
