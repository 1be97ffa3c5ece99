// What is wrong with the objects, refs and caches of a store. Looks only; see mend.ts for what can be done.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ObjectId } from '../../model/index.js'
import type { CaptureProgress } from '../capture/progress.js'
import { type CommitFacts, decodeCommit } from '../objects/commit.js'
import { isRepositoryFileSound, REPOSITORY_FILES, type RepositoryFile } from '../repository.js'
import { type CheckCounter, ObjectLibrary } from './library.js'
import { endsWithItsHash } from './pack-index-file.js'
import type { PackFault } from './packs.js'
import { readRefs, type Refs } from './refs-file.js'
import { type Lacks, SnapshotWalk } from './walk-snapshot.js'
import { listIfThere } from '../../system/index.js'

export type ExamineRequest = {
  /** Only the structure: no content is read. */
  readonly quick: boolean
  readonly snapshots: readonly ObjectId[]
  readonly commits: readonly ObjectId[]
}

export type ObjectReport = {
  readonly refs: Refs
  readonly repository: readonly RepositoryFile[]
  /** Folders without which git takes the repository for none. */
  readonly folders: readonly string[]
  readonly damagedLoose: readonly ObjectId[]
  readonly packs: readonly PackFault[]
  /** Damaged files that git can do without. */
  readonly derived: readonly string[]
  /** Temporaries of git. */
  readonly leftovers: readonly string[]
  /** Snapshots that lack something. */
  readonly lacks: ReadonlyMap<ObjectId, Lacks>
  /** Commits that were asked for or are held by a ref; null for one that is missing or damaged. */
  readonly commits: ReadonlyMap<ObjectId, CommitFacts | 'there' | null>
  readonly caches: readonly string[]
}

const FOLDERS = ['objects/pack', 'objects/info', 'refs/savestate', 'info']
const CACHE_START = 'savestate-cache-'

export async function examineObjects(
  home: string,
  { quick, snapshots, commits }: ExamineRequest,
  report: (progress: CaptureProgress) => void,
): Promise<ObjectReport> {
  const gitDir = join(home, 'objects.git')
  const objects = join(gitDir, 'objects')
  const folders = FOLDERS.filter((name) => !existsSync(join(gitDir, name)))
  const repository: RepositoryFile[] = []
  for (const file of REPOSITORY_FILES)
    if (!existsSync(gitDir) || !(await isRepositoryFileSound(gitDir, file))) repository.push(file)
  const refs = readRefs(gitDir)
  const counter = counterFor(report)
  const library = new ObjectLibrary(objects, { quick, counter })
  try {
    counter.expect((quick ? 0 : library.loose.ids.length) + snapshots.length)
    if (!quick) await library.checkLoose(counter)
    const walk = new SnapshotWalk(library, counter)
    const lacks = new Map<ObjectId, Lacks>()
    for (const snapshot of snapshots) {
      const found = walk.lacksOf(snapshot, { quick })
      if (found.count > 0) lacks.set(snapshot, found)
    }
    const wanted = new Set([...commits, ...(quick ? [] : refs.commits.values())])
    return {
      refs,
      repository,
      folders,
      damagedLoose: [...library.damagedLoose],
      packs: library.packs.faults,
      derived: library.packs.derived,
      leftovers: [...library.loose.others, ...temporariesIn(join(objects, 'pack'))],
      lacks,
      commits: new Map([...wanted].map((id) => [id, commitOf(library, id, quick)])),
      caches: quick ? [] : damagedCaches(join(home, 'cache')),
    }
  } finally {
    library.close()
  }
}

function commitOf(
  library: ObjectLibrary,
  id: ObjectId,
  quick: boolean,
): CommitFacts | 'there' | null {
  if (quick) return library.has(id) ? 'there' : null
  const found = library.read(id)
  if (found?.type !== 'commit') return null
  // Somebody may have written the message anew, and that is no damage.
  return decodeCommit(found.content) ?? 'there'
}

function temporariesIn(folder: string): string[] {
  return listIfThere(folder)
    .filter((name) => /^(?:\.?tmp[-_]|pack-[0-9a-f]{40}\.(?:rev|bitmap|mtimes)$)/.test(name))
    .filter((name) => !existsSync(join(folder, name.replace(/\.\w+$/, '.pack'))))
    .map((name) => join(folder, name))
}

function damagedCaches(folder: string): string[] {
  return (
    listIfThere(folder)
      // Node's compile cache has checksums of its own.
      .filter((name) => !name.endsWith('.tmp') && name !== 'compile')
      .map((name) => join(folder, name))
      .filter((path) => {
        const isCache = readFileSync(path).latin1Slice(0, CACHE_START.length) === CACHE_START
        return !isCache || !endsWithItsHash(path, () => undefined)
      })
  )
}

const TELL_EVERY_MS = 50

function counterFor(report: (progress: CaptureProgress) => void): CheckCounter & {
  expect(count: number): void
} {
  let [files, bytes, of, next] = [0, 0, 0, 0]
  const tell = () => {
    const now = Date.now()
    if (now < next) return
    next = now + TELL_EVERY_MS
    report({ phase: 'check', files, bytes, of: Math.max(of, files) })
  }
  return {
    expect: (count) => {
      of = count
    },
    one() {
      files += 1
      tell()
    },
    bytes(count) {
      bytes += count
      tell()
    },
  }
}
