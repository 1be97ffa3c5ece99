// Checks that each path of the store is a file or folder as expected. Reading a pipe would block, and a broken link is missing to
// one call and present to the next, so the other checks run only if this one finds nothing.
import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../model/index.js'
import { type Finding, finding, type ProblemKind, quarantine } from './findings.js'

type EntryType = 'file' | 'folder'

/** Other names are not ours. `config.json` belongs to the user, and its reader handles any type. */
const EXPECTED: readonly (readonly [RegExp, EntryType, ProblemKind])[] = [
  [/^format$/, 'file', 'format'],
  [/^ledger\.db(?:-wal|-shm|\.rescued|\.backup|\.rekeyed)?$/, 'file', 'ledger'],
  [/^cache$/, 'folder', 'cache'],
  [/^cache\/compile$/, 'folder', 'cache'],
  [/^cache\/[^./][^/]*$/, 'file', 'cache'],
  [/^journal$/, 'folder', 'journal'],
  [/^journal\/[^./][^/]*\.json$/, 'file', 'journal'],
  [/^locks$/, 'folder', 'lock'],
  [/^locks\/[^./][^/]*$/, 'file', 'lock'],
  [/^tmp$/, 'folder', 'leftover'],
  [/^objects\.git(?:\/(?:info|refs))?$/, 'folder', 'repository'],
  [/^objects\.git\/(?:HEAD|config|info\/attributes)$/, 'file', 'repository'],
  [/^objects\.git\/refs\/savestate(?:\/\w+)?$/, 'folder', 'ref'],
  [/^objects\.git\/(?:packed-refs|refs\/savestate\/\w+\/\w+)$/, 'file', 'ref'],
  [/^objects\.git\/objects(?:\/(?:[0-9a-f]{2}|info|pack))?$/, 'folder', 'objects'],
  [/^objects\.git\/objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/, 'file', 'objects'],
  [/^objects\.git\/objects\/pack\/pack-[0-9a-f]{40}\.\w+$/, 'file', 'objects'],
]
/** Saved data. A broken link here may lead to a disk that is not mounted, so it is never moved. */
const SAVED =
  /^(?:ledger\.db|journal|objects\.git(?:\/(?:packed-refs|refs(?:\/savestate)?|objects(?:\/pack)?))?)$/
const CHECKED_FOLDERS = /^(?:cache|journal|locks|objects\.git(?:\/.*)?)$/

export function checkFileTypes({ home }: { readonly home: string }): Finding[] {
  return checkFolder(home, '')
}

function checkFolder(home: string, folder: string): Finding[] {
  return entriesOf(join(home, folder)).flatMap((entry) => {
    const path = join(folder, entry.name)
    const [, wanted, kind] = EXPECTED.find(([pattern]) => pattern.test(path)) ?? []
    const fault = wanted === undefined ? undefined : faultOf(join(home, path), entry, wanted)
    if (kind !== undefined && fault !== undefined) {
      const isElsewhere = SAVED.test(path) && entry.isSymbolicLink()
      const fix = quarantine(path, { stage: 'home', why: fault })
      return [finding(kind, fault, { path, ...(isElsewhere ? {} : { fix }) })]
    }
    return entry.isDirectory() && CHECKED_FOLDERS.test(path) ? checkFolder(home, path) : []
  })
}

function faultOf(path: string, entry: Dirent, wanted: EntryType): string | undefined {
  const isSound = (it: Pick<Dirent, 'isFile' | 'isDirectory'>) =>
    wanted === 'file' ? it.isFile() : it.isDirectory()
  if (!entry.isSymbolicLink()) return isSound(entry) ? undefined : `is not a ${wanted}`
  const target = statTarget(path)
  if (target === undefined) return 'is a broken link'
  return isSound(target) ? undefined : `is a link to something that is not a ${wanted}`
}

function statTarget(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (hasCode(error, 'ELOOP', 'EACCES')) return undefined
    throw error
  }
}

/** Empty if another process removes the folder meanwhile. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
