// Reads single files of snapshots, for infrequent requests. One git process serves all requests; the first request starts it.
import { type BytePath, joinPath, type ObjectId, ROOT } from '../../model/index.js'
import { decodeModes, type ModeClass, modeOf } from '../objects/modes.js'
import { decodeTree, GIT_MODE, type GitMode, type TreeEntry } from '../objects/tree.js'
import { BlobReader } from './blob-reader.js'
import { tryGit } from './git-program.js'

export type StoredFile =
  | { readonly type: 'file'; readonly mode: number; readonly content: Buffer }
  | { readonly type: 'link'; readonly content: Buffer }
  | { readonly type: 'folder'; readonly names: readonly BytePath[] }

export class SnapshotFiles {
  readonly #objects: BlobReader

  constructor(gitDir: string) {
    this.#objects = new BlobReader(gitDir)
  }

  /** The text of a file in the top folder; undefined if it is not a file, or missing. Throws STORE_DAMAGED. */
  async textOf(tree: ObjectId, name: string): Promise<string | undefined> {
    const files = await this.#entry(tree, 'files')
    if (files?.mode !== GIT_MODE.folder) return undefined
    const entry = await this.#entry(files.id, name)
    return entry !== undefined && isFile(entry.mode)
      ? (await this.#objects.read(entry.id)).toString('utf8')
      : undefined
  }

  /** The entry of a snapshot at a path; undefined if there is none. The content of a link is its target. Throws STORE_DAMAGED. */
  async read(tree: ObjectId, path: BytePath): Promise<StoredFile | undefined> {
    let entry = await this.#entry(tree, 'files')
    for (const name of path === ROOT ? [] : path.split('/')) {
      if (entry?.mode !== GIT_MODE.folder) return undefined
      entry = await this.#entry(entry.id, name)
    }
    if (entry === undefined) return undefined
    const bytes = await this.#objects.read(entry.id)
    if (entry.mode === GIT_MODE.folder)
      return { type: 'folder', names: decodeTree(bytes).map(({ name }) => name) }
    if (entry.mode === GIT_MODE.link) return { type: 'link', content: bytes }
    const modeClass = entry.mode === GIT_MODE.executable ? 'executable' : 'file'
    return { type: 'file', mode: await this.#modeOf(tree, path, modeClass), content: bytes }
  }

  /** The paths of all files and links. */
  async paths(tree: ObjectId): Promise<readonly BytePath[]> {
    const files = await this.#entry(tree, 'files')
    return files === undefined ? [] : this.#pathsIn(files.id, ROOT)
  }

  close(): void {
    this.#objects.close()
  }

  async #pathsIn(tree: ObjectId, folder: BytePath): Promise<BytePath[]> {
    const entries = decodeTree(await this.#objects.read(tree))
    const found = entries.map(async ({ mode, name, id }) => {
      const path = joinPath(folder, name)
      return mode === GIT_MODE.folder ? this.#pathsIn(id, path) : [path]
    })
    return (await Promise.all(found)).flat()
  }

  async #modeOf(tree: ObjectId, path: BytePath, modeClass: ModeClass): Promise<number> {
    const modes = await this.#entry(tree, 'modes')
    if (modes === undefined) return modeClass === 'executable' ? 0o755 : 0o644
    return modeOf(decodeModes(await this.#objects.read(modes.id)), path, modeClass)
  }

  async #entry(tree: ObjectId, name: string): Promise<TreeEntry | undefined> {
    return decodeTree(await this.#objects.read(tree)).find((entry) => entry.name === name)
  }
}

function isFile(mode: GitMode): boolean {
  return mode === GIT_MODE.file || mode === GIT_MODE.executable
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
