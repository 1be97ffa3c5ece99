// The store's folder: made 0700, marked with its format, and refused if the mark is not ours (I8).
import { chmodSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, SavestateError } from '../model/index.js'
import { writeFileAtomically } from '../system/index.js'

const FORMAT = 'savestate 1\n'

/** Returns the real path of the store, made if it was not there. */
export function openHome(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const home = realpathSync(path)
    checkFormat(home)
    return home
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST')) throw error
    throw new SavestateError('STORE_UNUSABLE', `The store ${path} cannot be opened or written`, {
      hint: 'Check the permissions, or choose another place with SAVESTATE_HOME.',
      cause: error,
    })
  }
}

function checkFormat(home: string): void {
  const path = join(home, 'format')
  const format = readIfThere(path)
  if (format === FORMAT) return
  if (format !== undefined) {
    const shown = JSON.stringify(format.trim().slice(0, 60))
    throw new SavestateError('STORE_NEWER', `The store ${home} has the format ${shown}`, {
      hint: 'It was made by a newer version of Savestate. Update savestate; nothing has been touched.',
    })
  }
  if (!isEmpty(home) && readIfThere(path) !== FORMAT) {
    throw new SavestateError('STORE_UNUSABLE', `${home} has something in it and is not a store`, {
      hint: 'Point SAVESTATE_HOME at a new or empty folder.',
    })
  }
  chmodSync(home, 0o700)
  writeFileAtomically({ path, content: FORMAT, durable: true })
}

/** What another process is just making counts as nothing: `format` is the first thing to be there. */
function isEmpty(home: string): boolean {
  return readdirSync(home).every((name) => name.startsWith('format.'))
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
