// The lock that the one daemon of a store holds while it lives, and the folder with its address.
import { chmodSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as engine from '../../engine/index.js'
import {
  type Lock,
  readIfThere,
  readLockOwner,
  takeLock,
  writeFileAtomically,
} from '../../system/index.js'
import { refuseUnknown } from './validate-options.js'
import { homeOf, type StoreOptions } from './open-context.js'
import { explained } from './open-calls.js'

export type DaemonLock = {
  /** The store's real path. */
  readonly home: string
  /** The daemon's own folder in it, mode 0700. */
  readonly folder: string
  /** Undefined for a file that is not there. */
  read(name: string): string | undefined
  /** The file as a whole or not at all, mode 0600. */
  write(name: string, content: string): void
  remove(name: string): void
  /** Which file the ledger of the store is; undefined if there is none. */
  ledgerInode(): bigint | undefined
  release(): void
}

/** The real path of the store, which is made if it is not there. Throws STORE_NEWER, STORE_UNUSABLE. */
export async function storeHome(options: Pick<StoreOptions, 'home'> = {}): Promise<string> {
  refuseUnknown('storeHome', options, { home: true })
  return explained(async () => engine.openHome(homeOf(options)))
}

/** Takes the lock of the daemon. Undefined while another process holds it; getting it proves that the last daemon is dead. */
export async function acquireDaemonLock(
  options: Pick<StoreOptions, 'home'> = {},
): Promise<DaemonLock | undefined> {
  const home = await storeHome(options)
  return explained(async () => {
    const lock = await takeLock(engine.daemonLockPath(home), { waitMs: 0, purpose: 'daemon' })
    return lock === undefined ? undefined : placeIn(home, lock)
  })
}

/** The process that has the place, whether it answers or not; undefined if none has it. Makes no store. */
export async function daemonLockHolder(
  options: Pick<StoreOptions, 'home'> = {},
): Promise<{ readonly pid: number | null } | undefined> {
  refuseUnknown('daemonPlaceHolder', options, { home: true })
  const home = homeOf(options)
  return explained(async () => {
    // Asked for its path, the engine would make the folder.
    if (!existsSync(join(home, 'locks', 'daemon'))) return undefined
    const path = engine.daemonLockPath(home)
    const lock = await takeLock(path, { waitMs: 0, purpose: 'find the daemon' })
    lock?.release()
    return lock === undefined ? { pid: (await readLockOwner(path))?.pid ?? null } : undefined
  })
}

function placeIn(home: string, lock: Lock): DaemonLock {
  const folder = join(home, 'daemon')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  return {
    home,
    folder,
    read: (name) => readIfThere(join(folder, name))?.toString('utf8'),
    write: (name, content) =>
      writeFileAtomically({ path: join(folder, name), content, durable: false }),
    remove: (name) => rmSync(join(folder, name), { force: true }),
    ledgerInode: () =>
      statSync(join(home, 'ledger.db'), { bigint: true, throwIfNoEntry: false })?.ino,
    release: () => lock.release(),
  }
}
