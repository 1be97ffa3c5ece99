// A sequence of snapshots as trees of the user's repository. Git itself does the conversion (line ends, encodings) and applies the ignore
// rules: the files that differ are written to the worktree of the temporary repository, next to the rule files, and git updates
// an index of all files there.
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BytePath,
  fsPath,
  isInside,
  nameOf,
  type ObjectId,
  parentOf,
  ROOT,
  type SkipReason,
} from '../../model/index.js'
import { BlobReader } from '../git/blob-reader.js'
import { EMPTY_TREE } from '../objects/object-id.js'
import { refuseHostileTree } from '../objects/safe-path.js'
import { BRANCH, TemporaryRepository } from './temporary-repository.js'
import {
  inWorktree,
  listCommit,
  openUserRepository,
  parseEntries,
  readTreeId,
  type UserEntry,
  type UserRepository,
} from './user-repository.js'

/** A snapshot, and what is known about the paths that it lacks. */
export type ChainState = {
  readonly tree: ObjectId
  readonly skippedPaths: readonly { readonly path: BytePath; readonly reason: SkipReason }[]
  /** The repositories in the project: what is in them is not part of the one around it. */
  readonly nested: readonly BytePath[]
}

export type ChainRequest = {
  /** The store's repository. */
  readonly gitDir: string
  readonly folder: BytePath
  /** The user's commit to build on, if it was recorded. */
  readonly commit: ObjectId | undefined
}

export type ChainTree = { readonly tree: ObjectId; readonly files: number }

type Entries = ReadonlyMap<BytePath, { readonly mode: string; readonly id: ObjectId }>

const GITLINK = '160000'
const FOLDER = '040000'
const RULE_FILES: readonly string[] = ['.gitignore', '.gitattributes']

export class CommitChain {
  /** The user's commit below all others; undefined if it is unknown or gone. */
  readonly base: ObjectId | undefined
  readonly user: UserRepository | undefined
  readonly repository: TemporaryRepository
  /** Paths of the project that a filter of the user, such as LFS, would have to convert. */
  readonly filtered = new Set<BytePath>()
  readonly #blobs: BlobReader
  /** Files of the base, by their path in the worktree. */
  readonly #baseFiles: Entries
  readonly #copied = new Set<ObjectId>()
  /** The files of the project in the last state; before the first one, those of the base. */
  #entries: Entries
  /** Removed from the folder as far as the snapshots show, and kept because Savestate did not save them there. */
  #kept = new Set<BytePath>()
  #tree: ObjectId

  private constructor(
    { gitDir }: ChainRequest,
    { user, repository, base, baseFiles, tree }: Opened,
  ) {
    this.#blobs = new BlobReader(gitDir)
    this.user = user
    this.repository = repository
    this.base = base
    this.#baseFiles = baseFiles
    this.#tree = tree
    this.#entries = below(baseFiles, user?.prefix ?? ROOT)
  }

  static async open(request: ChainRequest): Promise<CommitChain> {
    const user = await openUserRepository(request.folder)
    const repository = new TemporaryRepository({ objects: join(request.gitDir, 'objects'), user })
    try {
      const based = await readBase(repository, { user, commit: request.commit })
      return new CommitChain(request, { user, repository, ...based })
    } catch (error) {
      repository.remove()
      throw error
    }
  }

  /** The tree of the user's repository with the project as in this snapshot, and how many files differ from the state before. */
  async advance(state: ChainState): Promise<ChainTree> {
    const before = this.#entries
    const after = await this.#listSnapshot(state)
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter((path) => {
      const [one, other] = [before.get(path), after.get(path)]
      return one?.id !== other?.id || one?.mode !== other?.mode
    })
    const removed = this.#removals([...changed, ...this.#kept], { after, state })
    const written = changed.filter((path) => after.has(path))
    await this.#copyOld([...written, ...removed])
    // Only these may exist, and none is below a link: the state before had them all.
    for (const path of changed) if (before.has(path)) remove(this.#file(path))
    for (const path of written) await this.#write(path, after.get(path))
    await this.#updateIndex({ removed, written })
    this.#entries = after
    const tree = await this.repository.id(['write-tree', '--missing-ok'])
    const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', this.#tree, tree]
    const files = (await this.repository.run(args)).filter((byte) => byte === 0).length
    this.#tree = tree
    return { tree, files }
  }

  /** The tree of the state before; of the base, if there was none. */
  get tree(): ObjectId {
    return this.#tree
  }

  async commit(content: Buffer): Promise<ObjectId> {
    return this.repository.id(['hash-object', '-t', 'commit', '-w', '--stdin'], content)
  }

  /** A bundle with this commit as branch `savestate`, and what the user's repository lacks of it. */
  async bundle(tip: ObjectId): Promise<Buffer> {
    await this.repository.setRef(BRANCH, tip)
    return this.repository.bundle(['HEAD', BRANCH], this.base)
  }

  close(): void {
    this.#blobs.close()
    this.repository.remove()
  }

  async #listSnapshot({ tree, nested }: ChainState): Promise<Entries> {
    const args = ['ls-tree', '-r', '-t', '-z', '--full-tree', `${tree}:files`]
    const prefix = this.user?.prefix ?? ROOT
    const isOutside = (path: BytePath) =>
      nested.some((folder) => folder !== ROOT && isInside(path, folder)) ||
      this.#isInGitlink(inWorktree(prefix, path))
    const listed = parseEntries(await this.repository.run(args))
    refuseHostileTree(
      listed.map(({ path, mode }) => ({ path, type: mode === FOLDER ? 'folder' : 'file' })),
    )
    const files = listed.filter(({ path, mode }) => mode !== FOLDER && !isOutside(path))
    return new Map(files.map((each) => [each.path, each]))
  }

  #isInGitlink(path: BytePath): boolean {
    for (let folder = path; folder !== ROOT; folder = parentOf(folder))
      if (this.#baseFiles.get(folder)?.mode === GITLINK) return true
    return false
  }

  /** A path that Savestate skipped may still exist. Also, a sparse checkout lacks files that were not removed. */
  #removals(
    candidates: readonly BytePath[],
    { after, state }: { readonly after: Entries; readonly state: ChainState },
  ): readonly BytePath[] {
    const gone = candidates.filter((path) => !after.has(path))
    const skipped = new Set(state.skippedPaths.map(({ path }) => path))
    const isSparse = this.user?.settings.get('core.sparsecheckout') === 'true'
    const isKept = (path: BytePath) => {
      if (isSparse && this.#baseFiles.has(inWorktree(this.user?.prefix ?? ROOT, path))) return true
      for (let folder = path; folder !== ROOT; folder = parentOf(folder))
        if (skipped.has(folder)) return true
      return false
    }
    this.#kept = new Set(gone.filter(isKept))
    return gone.filter((path) => !this.#kept.has(path))
  }

  /** Git reads the old content of a file to decide about line ends, and to make a patch. */
  async #copyOld(paths: readonly BytePath[]): Promise<void> {
    const prefix = this.user?.prefix ?? ROOT
    const ids = paths.flatMap((path) => {
      const entry = this.#baseFiles.get(inWorktree(prefix, path))
      return entry === undefined || entry.mode === GITLINK ? [] : entry.id
    })
    const missing = [...new Set(ids)].filter((id) => !this.#copied.has(id))
    for (const id of missing) this.#copied.add(id)
    if (this.user !== undefined) await this.repository.copy(this.user.objects, missing)
  }

  #file(path: BytePath): string {
    const root = Buffer.from(this.repository.worktree, 'utf8').toString('latin1')
    return `${root}/${inWorktree(this.user?.prefix ?? ROOT, path)}`
  }

  async #write(path: BytePath, entry: { mode: string; id: ObjectId } | undefined): Promise<void> {
    if (entry === undefined) return
    const file = fsPath(this.#file(path))
    const content = await this.#blobs.read(entry.id)
    // Folders that were left empty.
    remove(this.#file(path))
    mkdirSync(fsPath(parentOf(this.#file(path) as BytePath)), { recursive: true })
    if (entry.mode === '120000') return symlinkSync(content, file)
    writeFileSync(file, content, { flag: 'wx' })
    chmodSync(file, entry.mode === '100755' ? 0o755 : 0o644)
  }

  async #updateIndex({
    removed,
    written,
  }: Readonly<Record<'removed' | 'written', readonly BytePath[]>>): Promise<void> {
    const prefix = this.user?.prefix ?? ROOT
    const { repository } = this
    const gone = removed.map((path) => inWorktree(prefix, path))
    await repository.run(['update-index', '--force-remove', '-z', '--stdin'], nulTerminated(gone))
    const tracked = new Set(splitNul(await repository.run(['ls-files', '-z'])))
    // Also finds files that were ignored until now.
    const others = splitNul(
      await repository.run(['ls-files', '--others', '--exclude-standard', '-z']),
    )
    const changed = written.map((path) => inWorktree(prefix, path))
    const wanted = [...changed.filter((path) => tracked.has(path)), ...others]
    const filtered = new Set(await this.#filteredOf(wanted))
    for (const path of filtered) this.filtered.add(path)
    const added = wanted.filter((path) => !filtered.has(path))
    const args = ['update-index', '--add', '--replace', '-z', '--stdin']
    await repository.run(args, nulTerminated(added))
  }

  async #filteredOf(paths: readonly BytePath[]): Promise<readonly BytePath[]> {
    const args = ['check-attr', '-z', '--stdin', 'filter']
    const words = splitNul(await this.repository.run(args, nulTerminated(paths)))
    return words.filter(
      (_, i) => i % 3 === 0 && words[i + 2] !== 'unspecified' && words[i + 2] !== 'unset',
    )
  }
}

type Opened = {
  readonly user: UserRepository | undefined
  readonly repository: TemporaryRepository
} & Awaited<ReturnType<typeof readBase>>

/** Fills the index and copies the commit, its trees and its rule files. */
async function readBase(
  repository: TemporaryRepository,
  { user, commit }: { readonly user: UserRepository | undefined; commit: ObjectId | undefined },
) {
  const { gitDir } = repository
  const listed =
    user === undefined || commit === undefined
      ? undefined
      : await listCommit(gitDir, { objects: user.objects, commit })
  if (user === undefined || commit === undefined || listed === undefined)
    return { base: undefined, baseFiles: new Map(), tree: EMPTY_TREE }
  const root = await readTreeId(gitDir, { objects: user.objects, commit })
  const isTree = ({ mode }: UserEntry) => mode === FOLDER
  const rules = listed.filter((each) => RULE_FILES.includes(nameOf(each.path)) && !isTree(each))
  const ids = [commit, root, ...[...listed.filter(isTree), ...rules].map(({ id }) => id)]
  await repository.copy(user.objects, [...new Set(ids)])
  repository.shallowAt(commit)
  await repository.run(['read-tree', root])
  const checkout = ['checkout-index', '-f', '-q', '-z', '--stdin']
  await repository.run(checkout, nulTerminated(rules.map(({ path }) => path)))
  const files = listed.filter((each) => !isTree(each))
  return { base: commit, baseFiles: new Map(files.map((each) => [each.path, each])), tree: root }
}

function below(files: Entries, prefix: BytePath): Entries {
  if (prefix === ROOT) return new Map([...files].filter(([, { mode }]) => mode !== GITLINK))
  const start = `${prefix}/`
  const inside = [...files].filter(([path, { mode }]) => path.startsWith(start) && mode !== GITLINK)
  return new Map(inside.map(([path, entry]) => [path.slice(start.length) as BytePath, entry]))
}

function remove(path: string): void {
  rmSync(fsPath(path), { recursive: true, force: true })
}

function nulTerminated(paths: readonly BytePath[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1')
}

function splitNul(output: Buffer): readonly BytePath[] {
  return output.toString('latin1').split('\0').slice(0, -1) as BytePath[]
}
