// What can be done with a store that perhaps cannot be opened any more.
import * as engine from '../../engine/index.js'
import type { CareContext, Hooks } from '../../engine/index.js'
import { Ledger } from '../../ledger/index.js'
import { explainSystemError, SavestateError } from '../../model/index.js'
import { Snapshots } from '../../snapshot/index.js'
import { SharedLock, systemClock } from '../../system/index.js'
import { type Known, refuseUnknown } from '../opening/validate-options.js'
import { homeOf, type StoreOptions } from '../opening/open-context.js'

export type CareOptions = Pick<StoreOptions, 'home' | 'mayBlock' | 'clock'>
const CARE_OPTIONS: Known<CareOptions> = { home: true, mayBlock: true, clock: true }

/** Looks at a store that may be damaged, ledger included. `quick`: at its structure alone. */
export async function verifyStore(
  options: CareOptions & { readonly quick?: boolean } = {},
  hooks: Hooks = {},
): Promise<engine.VerifyResult> {
  refuseUnknown('verifyStore', options, { ...CARE_OPTIONS, quick: true })
  return withCare(options, (care) =>
    engine.verifyCare(care, { quick: options.quick ?? false }, hooks),
  )
}

/**
 * Makes again what is derived, sets aside what is damaged. No `Store` of this process may be open.
 * `confirm` is asked before each round of steps; without it the answer is yes.
 */
export async function repairStore(
  options: CareOptions & {
    readonly dryRun?: boolean
    readonly confirm?: (steps: readonly engine.RepairStep[]) => Promise<boolean>
  } = {},
  hooks: Hooks = {},
): Promise<engine.RepairResult> {
  refuseUnknown('repairStore', options, { ...CARE_OPTIONS, dryRun: true, confirm: true })
  const { dryRun = false, confirm } = options
  let last: CareContext | undefined
  return withCare(options, async (care) => {
    const reopen = async (before: CareContext) => {
      await close(before)
      last = await open(options)
      return last
    }
    try {
      return await engine.repair(care, { dryRun, confirm, hooks, reopen })
    } finally {
      if (last !== undefined) await close(last)
    }
  })
}

/** What a report of a fault needs, without anything of what the store holds. `paths`: with the paths of projects. */
export async function doctorStore(
  options: CareOptions & { readonly version: string; readonly paths?: boolean },
  hooks: Hooks = {},
): Promise<engine.DoctorResult> {
  refuseUnknown('doctorStore', options, { ...CARE_OPTIONS, version: true, paths: true })
  const { version, paths = false } = options
  return withCare(options, (care) => engine.doctor(care, { version, paths }, hooks))
}

async function withCare<T>(
  options: CareOptions,
  work: (care: CareContext) => Promise<T>,
): Promise<T> {
  try {
    const care = await open(options)
    try {
      return await work(care)
    } finally {
      await close(care)
    }
  } catch (error) {
    throw explainSystemError(error)
  }
}

async function open(options: CareOptions): Promise<CareContext> {
  const home = engine.inspectHome(homeOf(options))
  const isClosed = await engine.hasStrangers(home)
  const limitsOf = ({ path }: { readonly path: Parameters<typeof engine.limitsOf>[1] }) =>
    engine.limitsOf(home, path)
  const snapshots = new Snapshots({
    home,
    durability: 'fsync',
    limitsOf,
    mayBlock: options.mayBlock ?? false,
  })
  const common = { home, snapshots, clock: options.clock ?? systemClock }
  const without = { ...common, ledger: undefined, objects: undefined, isAlone: false }
  // A pipe in the place of a file would be waited for: that is put right before the rest is looked at.
  if (isClosed) return { ...without, ledgerFault: undefined }
  try {
    engine.refuseLostLedger(home)
    const ledger = Ledger.open(home, { durability: 'fsync' })
    const objects = new SharedLock(engine.objectsLockPath(home))
    return { ...common, ledger, objects, ledgerFault: undefined, isAlone: false }
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'STORE_DAMAGED') throw error
    return { ...without, ledgerFault: error.message }
  }
}

async function close({ ledger, objects, snapshots }: CareContext): Promise<void> {
  await snapshots.close()
  objects?.close()
  // A rescue has closed it already, and what it was is set aside.
  ledger?.close({ tidy: true })
}
