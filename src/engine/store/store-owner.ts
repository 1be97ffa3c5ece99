// The store contains prompts, conversations and file contents, and a socket that runs commands. So it must belong to the user who
// runs the program, and no other user may write to it. Otherwise another user could create the folder first, and read or answer
// everything.
import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SavestateError } from '../../model/index.js'

const OTHERS_WRITE = 0o022
const OTHERS = 0o077
/** Another user may have created these while the store was accessible to others. */
const PARTS = ['ledger.db', 'ledger.db-wal', 'objects.git', 'daemon', 'config.json']

/** Throws STORE_FOREIGN if the store, or a part of it, belongs to another user. */
export function refuseOtherOwner(home: string): void {
  // Systems without user ids have no other owner.
  const own = process.geteuid?.()
  if (own === undefined) return
  for (const path of [home, ...PARTS.map((name) => join(home, name))]) {
    const owner = statSync(path, { throwIfNoEntry: false })?.uid
    if (owner === undefined || owner === own) continue
    const message = `${path === home ? `The store ${home}` : path} belongs to user ${owner}, and you are user ${own}`
    throw new SavestateError('STORE_FOREIGN', message, {
      hint: 'With sudo, use `sudo -H` or leave sudo out: it kept your HOME. Otherwise set SAVESTATE_HOME to another folder, or give yourself the store with `chown -R`.',
    })
  }
}

/** Throws STORE_FOREIGN if other users can write to the store: its contents may not be ours. */
export function removeAccessOfOthers(home: string): void {
  if (process.geteuid === undefined) return
  const mode = statSync(home).mode & 0o777
  if ((mode & OTHERS_WRITE) !== 0) {
    const message = `Other users can write to the store ${home} (mode ${mode.toString(8)})`
    throw new SavestateError('STORE_FOREIGN', message, {
      hint: 'Check that everything in it is yours, then close it with `chmod 700`. Or set SAVESTATE_HOME to another folder.',
    })
  }
  if ((mode & OTHERS) !== 0) chmodSync(home, mode & 0o700)
}
