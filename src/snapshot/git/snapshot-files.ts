// Reads single files of snapshots, for infrequent requests. One git process serves all requests; the first request starts it.
import { type BytePath, joinPath, type ObjectId, ROOT } from '../../model/index.js'
import { ASSUMED_MODES, decodeModes, modeOf, type ModeTable } from '../objects/modes.js'
import { hostileSnapshot } from '../objects/safe-path.js'
import { decodeTree, GIT_MODE, type TreeEntry } from '../objects/tree.js'
import { BlobReader } from './blob-reader.js'
import { runGit, tryGit } from './git-program.js'
import { TYPE_OF } from './tree-diff.js'

export type StoredFile =
  | { readonly type: 'file'; readonly mode: number; readonly content: Buffer }
  | { readonly type: 'link'; readonly content: Buffer }
  | { readonly type: 'folder'; readonly names: readonly BytePath[] }

/** An entry of a folder. `mode` is undefined for a link; `sizeBytes` for a folder and for a lost object. */
export type FolderEntry = {
  readonly name: BytePath
  readonly type: 'file' | 'folder' | 'link'
  readonly mode: number | undefined
  readonly sizeBytes: number | undefined
}

const FILES = 'files' as BytePath

export class SnapshotFiles {
  readonly #gitDir: string
  readonly #objects: BlobReader

  constructor(gitDir: string) {
    this.#gitDir = gitDir
    this.#objects = new BlobReader(gitDir)
  }

  /** The text of a file in the top folder; undefined if it is not a file, or missing. Throws STORE_DAMAGED. */
  async textOf(tree: ObjectId, name: string): Promise<string | undefined> {
    const file = await this.read(tree, name as BytePath)
    return file?.type === 'file' ? file.content.toString('utf8') : undefined
  }

  /** The entry of a snapshot at a path; undefined if there is none. The content of a link is its target. Throws STORE_DAMAGED. */
  async read(tree: ObjectId, path: BytePath): Promise<StoredFile | undefined> {
    const entry = await findEntry(
      tree,
      path === ROOT ? FILES : joinPath(FILES, path),
      this.#entries,
    )
    if (entry === undefined) return undefined
    const bytes = await this.#objects.read(entry.id)
    if (entry.mode === GIT_MODE.folder)
      return { type: 'folder', names: decodeTree(bytes).map(({ name }) => name) }
    if (entry.mode === GIT_MODE.link) return { type: 'link', content: bytes }
    const modeClass = entry.mode === GIT_MODE.executable ? 'executable' : 'file'
    return { type: 'file', mode: modeOf(await this.#modes(tree), path, modeClass), content: bytes }
  }

  /** The content of a file or a link; undefined if it has more bytes. Throws STORE_DAMAGED. */
  async content(
    blob: ObjectId,
    { maxBytes }: { readonly maxBytes: number },
  ): Promise<Buffer | undefined> {
    const chunks: Buffer[] = []
    let isTooLarge = false
    await this.#objects.stream(blob, {
      start: (size) => (isTooLarge = size > maxBytes),
      chunk: (bytes) => (isTooLarge ? undefined : chunks.push(bytes)),
    })
    return isTooLarge ? undefined : Buffer.concat(chunks)
  }

  /** The entries of a folder, without reading their contents; undefined if there is no folder at the path. Throws STORE_DAMAGED. */
  async list(tree: ObjectId, path: BytePath): Promise<readonly FolderEntry[] | undefined> {
    const inFiles = path === ROOT ? FILES : joinPath(FILES, path)
    const folder = await findEntry(tree, inFiles, this.#entries)
    if (folder?.mode !== GIT_MODE.folder) return undefined
    // git reports a lost folder only as text.
    await this.#entries(folder.id)
    const modes = await this.#modes(tree)
    const output = await runGit(this.#gitDir, ['ls-tree', '-l', '-z', '--full-tree', folder.id])
    const lines = output.toString('latin1').split('\0').slice(0, -1)
    return lines.map((line) => readEntry(line, { folder: path, modes }))
  }

  /** Whether there is an entry at the path. Does not read its content. */
  async has(tree: ObjectId, path: BytePath): Promise<boolean> {
    return (await findEntry(tree, joinPath(FILES, path), this.#entries)) !== undefined
  }

  async #modes(tree: ObjectId): Promise<ModeTable> {
    const modes = await findEntry(tree, 'modes' as BytePath, this.#entries)
    return modes === undefined ? ASSUMED_MODES : decodeModes(await this.#objects.read(modes.id))
  }

  /** The paths of all files and links. */
  async paths(tree: ObjectId): Promise<readonly BytePath[]> {
    const files = await findEntry(tree, FILES, this.#entries)
    return files === undefined ? [] : this.#pathsIn(files.id, ROOT)
  }

  close(): void {
    this.#objects.close()
  }

  async #pathsIn(tree: ObjectId, folder: BytePath): Promise<BytePath[]> {
    const found = (await this.#entries(tree)).map(async ({ mode, name, id }) => {
      const path = joinPath(folder, name)
      return mode === GIT_MODE.folder ? this.#pathsIn(id, path) : [path]
    })
    return (await Promise.all(found)).flat()
  }

  readonly #entries = async (tree: ObjectId) => decodeTree(await this.#objects.read(tree))
}

/** `line` is one of `git ls-tree -l`. Its size is not a number for a folder, and for an object that the store lacks. */
function readEntry(
  line: string,
  { folder, modes }: { readonly folder: BytePath; readonly modes: ModeTable },
): FolderEntry {
  const [, gitMode = '', size = '', text = ''] = /^(\d{6}) \S+ \S+ +(\S+)\t([^]*)$/.exec(line) ?? []
  const name = text as BytePath
  const type = TYPE_OF[gitMode]
  if (type === undefined) throw hostileSnapshot(`has an entry of mode ${gitMode}`)
  return {
    name,
    type: type === 'executable' ? 'file' : type,
    mode: type === 'link' ? undefined : modeOf(modes, joinPath(folder, name), type),
    sizeBytes: /^\d+$/.test(size) ? Number(size) : undefined,
  }
}

/** The entry at a path below a tree; undefined if there is none. `entriesOf` reads a tree. */
export async function findEntry(
  tree: ObjectId,
  path: BytePath,
  entriesOf: (tree: ObjectId) => Promise<readonly TreeEntry[]>,
): Promise<Pick<TreeEntry, 'id' | 'mode'> | undefined> {
  let found: Pick<TreeEntry, 'id' | 'mode'> = { id: tree, mode: GIT_MODE.folder }
  for (const name of path === ROOT ? [] : path.split('/')) {
    if (found.mode !== GIT_MODE.folder) return undefined
    const entry = (await entriesOf(found.id)).find((each) => each.name === name)
    if (entry === undefined) return undefined
    found = entry
  }
  return found
}

/** Number and size of the files in a snapshot, as far as its objects exist. */
export async function measureSnapshot(
  gitDir: string,
  snapshot: ObjectId,
): Promise<{ readonly fileCount: number; readonly sizeBytes: number }> {
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', `${snapshot}:files`]
  const { output } = await tryGit(gitDir, args)
  const sizes = output.toString('latin1').split('\0').slice(0, -1)
  const sizeOf = (line: string) => Number(/^\S+ \S+ \S+ +(\d+)\t/.exec(line)?.[1] ?? 0)
  return {
    fileCount: sizes.length,
    sizeBytes: sizes.reduce((sum, line) => sum + sizeOf(line), 0),
  }
}
