// Single files of snapshots, for what is asked seldom and is small. One git for all of them, and none where nothing is asked.
import type { ObjectId } from '../../model/index.js'
import { decodeTree, GIT_MODE, type TreeEntry } from '../objects/tree.js'
import { BlobReader } from './blob-reader.js'

export class SnapshotFiles {
  readonly #objects: BlobReader

  constructor(gitDir: string) {
    this.#objects = new BlobReader(gitDir)
  }

  /** What a snapshot holds under a name in its top folder; undefined if that is no file, or not in it. Throws STORE_DAMAGED. */
  async textOf(tree: ObjectId, name: string): Promise<string | undefined> {
    const files = await this.#entry(tree, 'files')
    if (files?.mode !== GIT_MODE.folder) return undefined
    const entry = await this.#entry(files.id, name)
    const isFile = entry?.mode === GIT_MODE.file || entry?.mode === GIT_MODE.executable
    return isFile ? (await this.#objects.read(entry.id)).toString('utf8') : undefined
  }

  close(): void {
    this.#objects.close()
  }

  async #entry(tree: ObjectId, name: string): Promise<TreeEntry | undefined> {
    return decodeTree(await this.#objects.read(tree)).find((entry) => entry.name === name)
  }
}
