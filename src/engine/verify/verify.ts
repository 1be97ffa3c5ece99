// Checks that the store holds what it says it holds, in the order in which its parts depend on each other. It goes on as far
// as it can: a damaged part must not hide the state of the rest.
import * as z from 'zod/mini'
import type { Ledger } from '../../ledger/index.js'
import type { ObjectReport } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import { type CareContext, type Finding, finding, type Problem, problemOf } from './findings.js'
import type { Hooks } from '../operation/callbacks.js'
import { storeOperation } from '../operation/operation.js'
import { recoverAll } from '../restore/recover.js'
import { checkWholeness } from './verify-damage.js'
import {
  checkFormat,
  checkLeftovers,
  checkLocks,
  checkPermissions,
  listHome,
} from './verify-home.js'
import { checkJournals } from './verify-journals.js'
import { checkKinds } from './verify-file-types.js'
import { checkObjectFiles, checkRepository } from './verify-objects.js'
import { checkRefs } from './verify-refs.js'
import { checkLedgerFile, checkRows } from './verify-rows.js'
import { isError } from '../../model/index.js'

export type VerifyResult = {
  readonly checkpoints: number
  readonly problems: readonly Problem[]
  /** Whether only the structure was checked, and no content. */
  readonly quick: boolean
}

export const verify = storeOperation({
  name: 'verify',
  summary: 'Check that the store is intact',
  effect: 'reads',
  input: () => z.strictObject({ quick: z._default(z.boolean(), false) }),
  async run(context, { quick }, hooks): Promise<VerifyResult> {
    return verifyCare({ ...context, ledgerFault: undefined, isAlone: false }, { quick }, hooks)
  },
})

/** The same for a store that perhaps cannot be opened. */
export async function verifyCare(
  care: CareContext,
  { quick }: { readonly quick: boolean },
  hooks: Hooks,
): Promise<VerifyResult> {
  await finishInterrupted(care, hooks)
  hooks.signal?.throwIfAborted()
  const findings = await examineTwice(care, { quick }, hooks)
  const isOpen = care.ledger !== undefined && isReadable(findings)
  return {
    checkpoints: isOpen ? (care.ledger?.rowChecks.allIds().size ?? 0) : 0,
    problems: findings.map(problemOf),
    quick,
  }
}

/**
 * For a store that other processes may be using. They save and prune meanwhile, so two parts of one examination may
 * disagree: damage is only what a second examination finds too. The shared lock keeps a collection from removing objects.
 */
export async function examineTwice(
  care: CareContext,
  { quick }: { readonly quick: boolean },
  hooks: Hooks,
): Promise<Finding[]> {
  const once = () => examine(care, { quick }, hooks)
  // With damaged locks no process can collect, and the lock cannot be taken.
  if (care.objects === undefined || checkLocks(care).length > 0) return once()
  return care.objects.shared(async () => {
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
async function finishInterrupted(care: CareContext, hooks: Hooks): Promise<void> {
  const { ledger } = care
  if (ledger === undefined || care.objects === undefined) return
  const context: StoreContext = { ...care, ledger, objects: care.objects }
  await recoverAll(context, hooks).catch((error: unknown) => {
    const message = isError(error) ? error.message : String(error)
    hooks.onNotice?.(`Interrupted work could not be checked: ${message}.`)
  })
}

/** One examination, enough for a caller that keeps all other processes out. */
export async function examine(
  care: CareContext,
  { quick }: { readonly quick: boolean },
  hooks: Hooks,
): Promise<Finding[]> {
  const kinds = checkKinds(care)
  if (kinds.length > 0) return kinds
  const paths = listHome(care.home)
  const home = [...checkFormat(care), ...checkPermissions(care, paths), ...checkLocks(care)]
  const file = checkLedgerFile(care, { quick })
  const ledger = isReadable(file) ? care.ledger : undefined
  const rows = ledger?.rowChecks.filesRows() ?? []
  const report = await care.snapshots.examine(
    {
      quick,
      snapshots: [...new Set(rows.map(({ tree }) => tree))],
      commits: rows.map(({ commit }) => commit),
    },
    hooks,
  )
  hooks.signal?.throwIfAborted()
  const repository = checkRepository(care, report)
  const journals = await checkJournals(care, ledger)
  const found = [...home, ...file, ...repository, ...journals]
  if (report.folders.length + report.repository.length > 0) return found
  const objects = checkObjectFiles(care, report)
  const inside = ledger === undefined ? [] : checkInside(care, ledger, { quick, report })
  const known = new Set(ledger?.projects().map(({ project }) => String(project.id)))
  // Without a ledger it is unknown which projects there are.
  const left =
    ledger === undefined ? [] : checkLeftovers(care, { paths, known, caches: report.caches })
  const isExplained = [...repository, ...objects, ...inside].some(isDamage)
  const other = isExplained ? [] : report.fsck.map((message) => finding('objects', message))
  return [...found, ...objects, ...inside, ...other, ...left]
}

function checkInside(
  care: CareContext,
  ledger: Ledger,
  { quick, report }: { readonly quick: boolean; readonly report: ObjectReport },
): Finding[] {
  const rows = checkRows(ledger, report)
  // The other checks cannot read malformed rows either.
  if (ledger.rowChecks.rowFaults().length > 0) return rows
  return [...rows, ...checkRefs(care, ledger, report), ...checkWholeness(ledger, report, { quick })]
}

function isReadable(findings: readonly Finding[]): boolean {
  return !findings.some(({ path, severity }) => path === 'ledger.db' && severity === 'damage')
}
