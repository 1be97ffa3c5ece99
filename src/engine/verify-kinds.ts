// What stands in the place of each file and folder of the store. A pipe there would be waited for without end, a link that leads
// nowhere is taken for nothing by one call and for something by the next: nothing else is looked at before these are away.
import { type Dirent, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../model/index.js'
import type { Finding, Fix, ProblemKind } from './findings.js'

type Kind = 'file' | 'folder'
type Place = { readonly at: RegExp; readonly is: Kind; readonly kind: ProblemKind }

/** Names that are not ours are none of our business. Settings are the user's, and are read with care. */
const PLACES: readonly Place[] = [
  { at: /^format$/, is: 'file', kind: 'format' },
  { at: /^ledger\.db(?:-wal|-shm|\.rescued)?$/, is: 'file', kind: 'ledger' },
  { at: /^cache$/, is: 'folder', kind: 'cache' },
  { at: /^cache\/compile$/, is: 'folder', kind: 'cache' },
  { at: /^cache\/[^./][^/]*$/, is: 'file', kind: 'cache' },
  { at: /^journal$/, is: 'folder', kind: 'journal' },
  { at: /^journal\/[^./][^/]*\.json$/, is: 'file', kind: 'journal' },
  { at: /^locks$/, is: 'folder', kind: 'lock' },
  { at: /^locks\/[^./][^/]*$/, is: 'file', kind: 'lock' },
  { at: /^tmp$/, is: 'folder', kind: 'leftover' },
  { at: /^unflushed$/, is: 'folder', kind: 'objects' },
  { at: /^unflushed\/[^./][^/]*$/, is: 'file', kind: 'objects' },
  { at: /^objects\.git(?:\/(?:info|refs))?$/, is: 'folder', kind: 'repository' },
  { at: /^objects\.git\/(?:HEAD|config|info\/attributes)$/, is: 'file', kind: 'repository' },
  { at: /^objects\.git\/refs\/savestate(?:\/\w+)?$/, is: 'folder', kind: 'ref' },
  { at: /^objects\.git\/(?:packed-refs|refs\/savestate\/\w+\/\w+)$/, is: 'file', kind: 'ref' },
  { at: /^objects\.git\/objects(?:\/(?:[0-9a-f]{2}|info|pack))?$/, is: 'folder', kind: 'objects' },
  {
    at: /^objects\.git\/objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38}|pack\/pack-[0-9a-f]{40}\.\w+)$/,
    is: 'file',
    kind: 'objects',
  },
]
/** What stands for what was saved. If it is a link, that may be on a disk that is not mounted just now. */
const SAVED =
  /^(?:ledger\.db|journal|unflushed|objects\.git(?:\/(?:packed-refs|refs(?:\/savestate)?|objects(?:\/pack)?))?)$/
const INSIDE = /^(?:cache|journal|locks|unflushed|objects\.git(?:\/.*)?)$/

export function checkKinds({ home }: { readonly home: string }): Finding[] {
  return inFolder(home, '')
}

function inFolder(home: string, folder: string): Finding[] {
  return entriesOf(join(home, folder)).flatMap((entry) => {
    const path = join(folder, entry.name)
    const place = PLACES.find(({ at }) => at.test(path))
    const fault = place === undefined ? undefined : faultOf(join(home, path), entry, place.is)
    if (place !== undefined && fault !== undefined) return [findingOf(home, { path, place, fault })]
    return entry.isDirectory() && INSIDE.test(path) ? inFolder(home, path) : []
  })
}

function faultOf(path: string, entry: Dirent, wanted: Kind): string | undefined {
  const isSound = (it: Pick<Dirent, 'isFile' | 'isDirectory'>) =>
    wanted === 'file' ? it.isFile() : it.isDirectory()
  if (!entry.isSymbolicLink()) return isSound(entry) ? undefined : `is not a ${wanted}`
  const target = targetOf(path)
  if (target === undefined) return 'is a link that leads nowhere'
  return isSound(target) ? undefined : `is a link that leads to no ${wanted}`
}

/** Undefined for a link to what is not there, and for one that leads in a circle. */
function targetOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (hasCode(error, 'ELOOP', 'EACCES')) return undefined
    throw error
  }
}

function findingOf(
  home: string,
  { path, place, fault }: { readonly path: string; readonly place: Place; readonly fault: string },
): Finding {
  const found = { kind: place.kind, message: fault, checkpoint: null, path, severity: 'damage' }
  const isElsewhere = SAVED.test(path) && lstatSync(join(home, path)).isSymbolicLink()
  if (isElsewhere) return { ...found, severity: 'damage', repairable: false }
  const fix: Fix = {
    stage: 'home',
    action: `quarantine ${path}`,
    run: ({ away }) => void away.move(join(home, path), fault),
  }
  return { ...found, severity: 'damage', repairable: true, fix }
}

/** Others come and go while we look. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
