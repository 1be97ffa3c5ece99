// The path of the Unix socket, which is limited to about 100 bytes.
import { lstatSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type DaemonLock, SavestateError } from '../../internal.js'
import { ADDRESS_FILE, isOwnSocket, parseAddress } from '../address.js'

const MAX_BYTES = process.platform === 'linux' ? 107 : 103
const NAME = 'socket'
const PREFIX = 'savestate-'
/** As long as the suffix that `mkdtemp` appends. */
const RANDOM = 'XXXXXX'

export function socketPath({ folder }: DaemonLock): string {
  const usual = join(folder, NAME)
  if (fits(usual)) return usual
  for (const parent of [process.env['XDG_RUNTIME_DIR'] ?? '', tmpdir(), '/tmp']) {
    const isUsable = parent.startsWith('/') && fits(join(parent, `${PREFIX}${RANDOM}`, NAME))
    // A new folder of mode 0700 with an unpredictable name.
    if (isUsable && isFolder(parent)) return join(mkdtempSync(join(parent, PREFIX)), NAME)
  }
  throw new SavestateError('DAEMON_FAILED', 'No path is short enough for the socket', {
    hint: 'Set TMPDIR to a folder with a short path.',
  })
}

/** Removes what a dead daemon left. The caller must hold the lock. */
export function removeLeftSocket(lock: DaemonLock): void {
  lock.remove(NAME)
  const last = parseAddress(lock.read(ADDRESS_FILE) ?? '')
  if (last !== undefined) removeSocket(last.socket, lock)
  lock.remove(ADDRESS_FILE)
}

/** Removes the socket, and its folder if that was created for it. */
export function removeSocket(socket: string, { home, folder }: DaemonLock): void {
  const parent = dirname(socket)
  const isOurs = basename(parent).startsWith(PREFIX) && basename(socket) === NAME
  if (parent === folder || !isOurs || !isFolder(parent) || !isOwnSocket(socket, home)) return
  rmSync(socket, { force: true })
  rmdirSync(parent)
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_BYTES
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
