// Calls on a store that may be too damaged to be opened.
import * as engine from '../../engine/index.js'
import type { RepairContext } from '../../engine/index.js'
import { Ledger } from '../../ledger/index.js'
import { SavestateError } from '../../model/index.js'
import { Snapshots } from '../../snapshot/index.js'
import { type Clock, SharedLock, systemClock } from '../../system/index.js'
import { type CallOptions, splitOptions } from '../call-options.js'
import { type Known, refuseUnknown } from '../opening/validate-options.js'
import { explained } from '../opening/open-calls.js'
import { homeOf, type StoreOptions } from '../opening/open-context.js'

/** Options of the calls on a store that need not be open. */
export type ClosedStoreOptions = CallOptions &
  Pick<StoreOptions, 'home' | 'inProcess'> & {
    /** For tests. @internal */
    readonly clock?: Clock
  }
const CLOSED_STORE_OPTIONS: Known<Omit<ClosedStoreOptions, keyof CallOptions>> = {
  home: true,
  inProcess: true,
  clock: true,
}

/** Options of `verifyStore`. */
export type VerifyStoreOptions = ClosedStoreOptions & {
  /** Checks only the structure, not the contents. */
  readonly quick?: boolean
}

/** Options of `repairStore`. */
export type RepairOptions = ClosedStoreOptions & {
  /** Returns the first steps and changes nothing. */
  readonly dryRun?: boolean
  /** Called before each round of steps; without it all rounds are carried out. */
  readonly confirm?: (steps: readonly engine.RepairStep[]) => Promise<boolean>
}

/** Options of `doctorStore`. */
export type DoctorOptions = ClosedStoreOptions & {
  /** The version of the program that asks. */
  readonly version: string
  /** Includes the paths of projects. */
  readonly paths?: boolean
}

/** Checks a store that may be damaged, ledger included. */
export async function verifyStore(options: VerifyStoreOptions = {}): Promise<engine.VerifyResult> {
  const { input, callbacks } = splitOptions('verifyStore', options)
  refuseUnknown('verifyStore', input, { ...CLOSED_STORE_OPTIONS, quick: true })
  return withRepairContext(options, (context) =>
    engine.verifyDamaged(context, { quick: options.quick ?? false }, callbacks),
  )
}

/** Rebuilds derived data and sets damaged data aside. No `Store` of this process may be open. */
export async function repairStore(options: RepairOptions = {}): Promise<engine.RepairResult> {
  const { input, callbacks } = splitOptions('repairStore', options, { asks: 'confirm' })
  refuseUnknown('repairStore', input, { ...CLOSED_STORE_OPTIONS, dryRun: true })
  const { dryRun = false, confirm } = options
  let last: RepairContext | undefined
  return withRepairContext(options, async (context) => {
    const reopen = async (before: RepairContext) => {
      await close(before)
      last = await open(options)
      return last
    }
    try {
      return await engine.repair(context, { dryRun, confirm, callbacks, reopen })
    } finally {
      if (last !== undefined) await close(last)
    }
  })
}

/** Collects what a bug report needs, without any content of the store. */
export async function doctorStore(options: DoctorOptions): Promise<engine.DoctorResult> {
  const { input, callbacks } = splitOptions('doctorStore', options)
  refuseUnknown('doctorStore', input, { ...CLOSED_STORE_OPTIONS, version: true, paths: true })
  const { version, paths = false } = options
  return withRepairContext(options, (context) =>
    engine.doctor(context, { version, paths }, callbacks),
  )
}

async function withRepairContext<T>(
  options: ClosedStoreOptions,
  work: (context: RepairContext) => Promise<T>,
): Promise<T> {
  return explained(async () => {
    const context = await open(options)
    try {
      return await work(context)
    } finally {
      await close(context)
    }
  })
}

async function open(options: ClosedStoreOptions): Promise<RepairContext> {
  const home = engine.inspectHome(homeOf(options))
  const isClosed = await engine.hasForeignFiles(home)
  const snapshots = new Snapshots({
    home,
    durability: 'fsync',
    limitsOf: ({ path }) => engine.limitsOf(home, path),
    inProcess: options.inProcess ?? false,
  })
  const common = { home, snapshots, clock: options.clock ?? systemClock }
  const without = { ...common, ledger: undefined, objects: undefined, isAlone: false }
  // Opening a pipe where a file belongs would block for ever: repair that before checking the rest.
  if (isClosed) return { ...without, ledgerFault: undefined }
  try {
    engine.refuseMissingLedger(home)
    const ledger = Ledger.open(home, { durability: 'fsync' })
    const objects = new SharedLock(engine.objectsLockPath(home))
    return { ...common, ledger, objects, ledgerFault: undefined, isAlone: false }
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'STORE_DAMAGED') throw error
    return { ...without, ledgerFault: error.message }
  }
}

async function close({ ledger, objects, snapshots }: RepairContext): Promise<void> {
  await snapshots.close()
  objects?.close()
  // Closing twice is fine: a rescue has closed it already and set it aside.
  ledger?.close({ tidy: true })
}
