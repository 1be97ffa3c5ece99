// Reports what is wrong with the objects, refs and caches of a store. Git checks the objects; this file interprets its output
// and names the lost files of each checkpoint. Changes nothing; repair-objects.ts repairs.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ObjectId } from '../../model/index.js'
import { listIfExists, readIfThere } from '../../system/index.js'
import type { CaptureProgress } from '../capture/progress.js'
import { type CommitMetadata, decodeCommit } from '../objects/commit.js'
import { loosePath } from '../objects/loose.js'
import {
  isRepositoryFileSound,
  REPOSITORY_FILES,
  type RepositoryFile,
  runFsck,
} from '../repository.js'
import { endsWithItsHash, lastBytes, packChecksumIn } from './checksums.js'
import { type MissingObjects, findMissingQuickly, SnapshotWalk } from './missing-objects.js'
import { readRefs, type StoredRefs } from '../gc/refs.js'
import { TolerantReader } from './tolerant-reader.js'

export type ExamineRequest = {
  /** Check the structure only; no content is read. */
  readonly quick: boolean
  readonly snapshots: readonly ObjectId[]
  readonly commits: readonly ObjectId[]
}

export type PackFault = {
  /** Without its extension. */
  readonly name: string
  readonly fault: 'no-index' | 'index-damaged' | 'no-pack' | 'pack-damaged'
}

export type ObjectReport = {
  readonly refs: StoredRefs
  /** Files and folders without which git does not recognize the repository. If there are any, nothing below is checked. */
  readonly repository: readonly RepositoryFile[]
  readonly folders: readonly string[]
  readonly damagedLoose: readonly ObjectId[]
  readonly packs: readonly PackFault[]
  /** Damaged files that git does not need. */
  readonly derived: readonly string[]
  readonly lacks: ReadonlyMap<ObjectId, MissingObjects>
  /** The commits of rows and refs; null if missing or damaged, `there` if not in our format or not read. */
  readonly commits: ReadonlyMap<ObjectId, CommitMetadata | 'there' | null>
  readonly fsck: readonly string[]
  readonly caches: readonly string[]
}

const FOLDERS = ['objects/pack', 'objects/info', 'refs/savestate', 'info']
const CACHE_START = 'savestate-cache-'
const PACK = /^(pack-[0-9a-f]{40})\.(?:pack|idx)$/
const DERIVED = /\.(?:rev|bitmap)$|^multi-pack-index$/

export async function examineObjects(
  home: string,
  request: ExamineRequest,
  report: (progress: CaptureProgress) => void,
): Promise<ObjectReport> {
  const { quick } = request
  const gitDir = join(home, 'objects.git')
  const folders = FOLDERS.filter((name) => !existsSync(join(gitDir, name)))
  const repository: RepositoryFile[] = []
  for (const file of REPOSITORY_FILES)
    if (!existsSync(gitDir) || !(await isRepositoryFileSound(gitDir, file))) repository.push(file)
  const refs = readRefs(gitDir)
  const of = request.snapshots.length
  report({ phase: 'check', files: 0, bytes: 0, of })
  const caches = quick ? [] : damagedCaches(join(home, 'cache'))
  const found = { folders, repository, refs, caches }
  if (folders.length + repository.length > 0) return { ...NOTHING, ...found }
  const packFolder = join(gitDir, 'objects', 'pack')
  if (quick)
    return {
      ...NOTHING,
      ...found,
      packs: packFaults(packFolder, { quick, complaints: '' }),
      ...(await findMissingQuickly(gitDir, request)),
    }
  const fsck = await runFsck(gitDir, (objects, ofObjects) => {
    // Called from an event handler, where the exception of a cancelled call would end the thread.
    try {
      report({ phase: 'check', files: objects, bytes: 0, of: ofObjects })
    } catch {
      // The next report throws again.
    }
  })
  report({ phase: 'check', files: of, bytes: 0, of })
  const complaints = fsck.join('\n')
  const damagedLoose = findLoose(complaints, join(gitDir, 'objects'))
  return {
    ...found,
    damagedLoose,
    packs: packFaults(packFolder, { quick, complaints }),
    derived: listIfExists(packFolder)
      .filter((file) => DERIVED.test(file))
      .map((file) => join(packFolder, file))
      .filter((path) => !endsWithItsHash(path)),
    fsck,
    ...(await checkpointDamage(gitDir, { ...request, refs, fsck, damagedLoose })),
  }
}

const NOTHING = {
  damagedLoose: [],
  packs: [],
  derived: [],
  lacks: new Map(),
  commits: new Map(),
  fsck: [],
} as const

/** Reads the commits, then follows every snapshot that a clean fsck has not followed already. */
async function checkpointDamage(
  gitDir: string,
  {
    snapshots,
    commits: asked,
    refs,
    fsck,
    damagedLoose,
  }: ExamineRequest & Pick<ObjectReport, 'refs' | 'fsck' | 'damagedLoose'>,
): Promise<Pick<ObjectReport, 'commits' | 'lacks'>> {
  const reader = new TolerantReader(gitDir)
  try {
    const held = new Set(refs.commits.values())
    const commits: Map<ObjectId, CommitMetadata | 'there' | null> = new Map()
    const followed = new Set<ObjectId>()
    for (const id of new Set([...asked, ...held])) {
      const content = await reader.read('commit', id)
      // A user may have rewritten the message; that is not damage.
      const facts = content === undefined ? null : (decodeCommit(content) ?? 'there')
      commits.set(id, facts)
      if (facts !== null && facts !== 'there' && held.has(id) && fsck.length === 0)
        followed.add(facts.tree)
    }
    const lacks = new Map<ObjectId, MissingObjects>()
    const walk = new SnapshotWalk(reader, new Set(unreadableIn(fsck, { gitDir, damagedLoose })))
    for (const tree of snapshots.filter((id) => !followed.has(id))) {
      const lacking = await walk.lacksOf(tree)
      if (lacking.count > 0) lacks.set(tree, lacking)
    }
    return { commits, lacks }
  } finally {
    reader.close()
  }
}

/** Loose objects that git names by their path. One that was removed meanwhile is not damaged. */
function findLoose(complaints: string, objects: string): ObjectId[] {
  const found = complaints.matchAll(/objects\/([0-9a-f]{2})\/([0-9a-f]{38})\b/g)
  const ids = new Set([...found].map(([, folder, name]) => `${folder}${name}` as ObjectId))
  return [...ids].filter((id) => existsSync(loosePath(objects, id)))
}

/** Objects whose copy in a pack is damaged and that have no sound loose copy. */
export function unreadableIn(
  complaints: readonly string[],
  { gitDir, damagedLoose }: { readonly gitDir: string; readonly damagedLoose: readonly ObjectId[] },
): ObjectId[] {
  const objects = join(gitDir, 'objects')
  return complaints
    .flatMap(
      (line) => (/(?:cannot unpack|packed) ([0-9a-f]{40}) /.exec(line)?.[1] ?? []) as ObjectId,
    )
    .filter((id) => damagedLoose.includes(id) || !existsSync(loosePath(objects, id)))
}

function packFaults(
  folder: string,
  { quick, complaints }: { readonly quick: boolean; readonly complaints: string },
): PackFault[] {
  const names = new Set(listIfExists(folder).flatMap((file) => PACK.exec(file)?.[1] ?? []))
  return [...names].flatMap((name): PackFault[] => {
    const [pack, idx] = [join(folder, `${name}.pack`), join(folder, `${name}.idx`)]
    if (!existsSync(pack)) return [{ name, fault: 'no-pack' }]
    if (!existsSync(idx)) return [{ name, fault: 'no-index' }]
    const checksum = packChecksumIn(idx)
    if (checksum === undefined || (!quick && !endsWithItsHash(idx)))
      return [{ name, fault: 'index-damaged' }]
    const isSound = lastBytes(pack).equals(checksum) && !complaints.includes(`${name}.pack`)
    return isSound ? [] : [{ name, fault: 'pack-damaged' }]
  })
}

const SEARCH_INDEX = /\.search(?:-journal)?$/

function damagedCaches(folder: string): string[] {
  return (
    listIfExists(folder)
      // Node's compile cache has checksums of its own. A search checks its index itself.
      .filter((name) => !name.endsWith('.tmp') && name !== 'compile' && !SEARCH_INDEX.test(name))
      .map((name) => join(folder, name))
      .filter((path) => {
        const start = readIfThere(path)?.latin1Slice(0, CACHE_START.length)
        return start !== undefined && (start !== CACHE_START || !endsWithItsHash(path))
      })
  )
}
