// Opens the parts of a store, and finds its folder.
import { existsSync } from 'node:fs'
import { resolveStorePath } from '../../base/index.js'
import * as engine from '../../engine/index.js'
import type { StoreContext } from '../../engine/index.js'
import { Ledger, removeHalfRekeyed } from '../../ledger/index.js'
import {
  type ClassRegistry,
  type Durability,
  type Limits,
  SavestateError,
} from '../../model/index.js'
import { Snapshots } from '../../snapshot/index.js'
import { type Clock, SharedLock, systemClock } from '../../system/index.js'
import { type Encryption, ENCRYPTION_OPTIONS, givenKeys } from './encryption-keys.js'
import { type Known, refuseNoList, refuseUnknown } from './validate-options.js'
import { OpenCalls } from './open-calls.js'
import { openGivenRemote, type RemoteInput } from './open-remote.js'

export type StoreOptions = {
  /** The folder of the store; default: $SAVESTATE_HOME, else ~/.savestate. */
  readonly home?: string
  /** `fsync` (default): a checkpoint survives a power failure. `process`: it survives a killed process. */
  readonly durability?: Durability
  /** Limits of what a save of files captures; they override those of the settings. */
  readonly limits?: Partial<Limits>
  /**
   * Scans, hashes and watches on the calling thread, which blocks the event loop, instead of on a worker thread. For programs
   * that have nothing else to do.
   */
  readonly inProcess?: boolean
  /** Classes whose instances may be in states, and how they are stored. */
  readonly classes?: ClassRegistry
  /** Keys that encrypt states and metadata; default: from $SAVESTATE_KEY or $SAVESTATE_KEY_FILE (docs/guide/encryption.md). */
  readonly encryption?: Encryption
  /**
   * A PostgreSQL database that all sessions and threads are shared through: a call returns once it has what the call wrote, and
   * any machine can continue a session (docs/guide/fleet.md). A URL, or an object with the URL and a key; default: from
   * $SAVESTATE_REMOTE, with the key in $SAVESTATE_REMOTE_KEY or $SAVESTATE_REMOTE_KEY_FILE. `false`: none.
   */
  readonly remote?: string | RemoteInput | false
  /** The process ends soon: `close` leaves tidying to a process that stays. @internal */
  readonly shortLived?: boolean
  /** For tests. @internal */
  readonly clock?: Clock
}

const STORE_OPTIONS: Known<StoreOptions> = {
  home: true,
  durability: true,
  limits: true,
  inProcess: true,
  classes: true,
  encryption: true,
  remote: true,
  shortLived: true,
  clock: true,
}
const LIMITS: Known<Limits> = { maxFileBytes: true, maxFiles: true, allowSecrets: true }
const DURABILITIES: Readonly<Record<Durability, true>> = { fsync: true, process: true }

function checkOptions(options: StoreOptions): void {
  refuseUnknown('openStore', options, STORE_OPTIONS)
  const { limits = {}, encryption = {}, durability = 'fsync' } = options
  refuseUnknown('limits of openStore', limits, LIMITS)
  refuseUnknown('encryption of openStore', encryption, ENCRYPTION_OPTIONS)
  if (!Object.hasOwn(DURABILITIES, durability)) {
    throw new SavestateError('BAD_INPUT', `There is no durability ${JSON.stringify(durability)}`, {
      hint: `There are ${Object.keys(DURABILITIES).join(' and ')}.`,
    })
  }
  checkLimits(limits)
  // Not by its class: the package may be installed twice, and each copy has a class of its own.
  const { classes } = options
  if (classes === undefined || typeof Object(classes).withPrototype === 'function') return
  throw new SavestateError('BAD_INPUT', 'classes of openStore must be a ClassRegistry', {
    hint: 'Make one with `new ClassRegistry()`, and name each class with its `register(name, { type, toValue, fromValue })`.',
  })
}

/** Refuses other values: NaN would let every file through, or none. */
function checkLimits(limits: Partial<Limits>): void {
  for (const name of ['maxFileBytes', 'maxFiles'] as const) {
    const limit: unknown = limits[name]
    if (limit === undefined || (typeof limit === 'number' && limit >= 0)) continue
    throw new SavestateError('BAD_INPUT', `limits.${name} of openStore must be a number, 0 or more`)
  }
  const { allowSecrets } = limits
  refuseNoList('openStore', 'limits.allowSecrets', allowSecrets)
  if (allowSecrets === undefined || allowSecrets.every((line) => typeof line === 'string')) return
  throw new SavestateError(
    'BAD_INPUT',
    'limits.allowSecrets of openStore must be a list of strings',
  )
}

/** `use`: the lock of the store, taken shared while the store is open. */
export type OpenContext = StoreContext &
  Calls & { readonly use: SharedLock; readonly knownRemotes: engine.KnownRemotes }

export type Calls = { readonly calls: OpenCalls }

export async function openContext(options: StoreOptions): Promise<OpenContext> {
  checkOptions(options)
  const home = engine.openHome(homeOf(options))
  const durability = options.durability ?? 'fsync'
  const keys = givenKeys(options.encryption, { home, environment: process.env })
  const snapshots = new Snapshots({
    home,
    durability,
    limitsOf: ({ path }) => ({ ...engine.limitsOf(home, path), ...options.limits }),
    inProcess: options.inProcess ?? false,
  })
  // A new store: a first save is likely. Otherwise the thread starts with the first project: many programs save only states.
  if (!existsSync(snapshots.gitDir)) snapshots.warmUp()
  const use = new SharedLock(engine.storeLockPath(home))
  try {
    await use.hold()
    removeHalfRekeyed(home)
    engine.refuseMissingLedger(home)
    const ledger = Ledger.open(home, { durability, classes: options.classes, keys })
    await snapshots.prepare()
    const objects = new SharedLock(engine.objectsLockPath(home))
    const calls = new OpenCalls()
    const clock = options.clock ?? systemClock
    const knownRemotes = new engine.KnownRemotes(home)
    const openRemote = (id: string) => knownRemotes.open(id)
    // Two stores of one process may be opened in one millisecond.
    const openedAtMs = clock.nowMs() + (performance.now() % 1)
    const opened = { home, ledger, snapshots, objects, use, calls, clock, openedAtMs }
    const store = { ...opened, knownRemotes, openRemote }
    const remote = await openGivenRemote(options.remote, { home, environment: process.env })
    return remote === undefined ? store : { ...store, fleet: await engine.openFleet(store, remote) }
  } catch (error) {
    await snapshots.close()
    use.close()
    throw error
  }
}

/** The folder of the store if no option names one. */
export function defaultHome(): string {
  return homeOf({})
}

export function homeOf({ home }: Pick<StoreOptions, 'home'>): string {
  if (home === undefined) return homeOfEnvironment()
  // Refuse anything else, such as null: it would mean the default store.
  if (typeof home !== 'string' || home === '' || home.includes('\0'))
    throw new SavestateError('BAD_INPUT', 'The home of a store must be a path, as a string')
  if (!/^~(?:\/|$)/.test(home)) return home
  throw new SavestateError(
    'BAD_INPUT',
    `The home of a store is ${JSON.stringify(home)}: ${TILDE}`,
    {
      hint: 'Give the whole path, such as `join(os.homedir(), ".savestate")`.',
    },
  )
}

const TILDE = 'only a shell replaces "~"'

function homeOfEnvironment(): string {
  const found = resolveStorePath()
  if ('path' in found) return found.path
  if (found.fault === 'no-home-folder')
    throw new SavestateError(
      'STORE_UNUSABLE',
      'There is no home folder: HOME is empty or relative',
      {
        hint: 'Set HOME, or set SAVESTATE_HOME to the whole path of a folder.',
      },
    )
  const problem = found.fault === 'tilde' ? `: ${TILDE}` : ' is a relative path'
  const message =
    found.fault === 'empty'
      ? 'The path of the store is empty'
      : `SAVESTATE_HOME=${process.env['SAVESTATE_HOME']}${problem}`
  throw new SavestateError('STORE_UNUSABLE', message, {
    hint: 'Set SAVESTATE_HOME to the whole path of a folder, or leave it unset for ~/.savestate.',
  })
}
