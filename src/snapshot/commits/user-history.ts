// The commits that the user has made since a time, to compare them with snapshots; and notes on them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BytePath, ObjectId } from '../../model/index.js'
import { BlobReader } from '../git/blob-reader.js'
import { objectIdOf } from '../objects/object-id.js'
import { NOTES, TemporaryRepository } from './temporary-repository.js'
import {
  inWorktree,
  listCommit,
  openUserRepository,
  readUserCommits,
  type UserCommit,
  type UserRepository,
} from './user-repository.js'

type HistoryRequest = {
  /** The store's repository. */
  readonly gitDir: string
  readonly folder: BytePath
  readonly sinceMs: number
}

export class UserHistory {
  /** Newest first, without merges. */
  readonly commits: readonly UserCommit[]
  readonly #repository: TemporaryRepository
  readonly #user: UserRepository
  readonly #blobs: BlobReader

  private constructor(of: {
    readonly gitDir: string
    readonly repository: TemporaryRepository
    readonly user: UserRepository
    readonly commits: readonly UserCommit[]
  }) {
    this.commits = of.commits
    this.#repository = of.repository
    this.#user = of.user
    this.#blobs = new BlobReader(of.gitDir)
  }

  /** Undefined without a repository that has a commit. */
  static async open({ gitDir, folder, sinceMs }: HistoryRequest): Promise<UserHistory | undefined> {
    const user = await openUserRepository(folder)
    if (user === undefined || user.head === null) return undefined
    const repository = new TemporaryRepository({ objects: join(gitDir, 'objects'), user })
    try {
      const { objects, head } = user
      if (user.shallow.length > 0) writeFileSync(join(repository.gitDir, 'shallow'), user.shallow)
      const request = { objects, tip: head, sinceMs }
      const commits = await readUserCommits(repository.gitDir, request)
      return new UserHistory({ gitDir, repository, user, commits })
    } catch (error) {
      repository.remove()
      throw error
    }
  }

  /** A path of the project as one of the repository. */
  pathOf(path: BytePath): BytePath {
    return inWorktree(this.#user.prefix, path)
  }

  /** The files of a commit by their path in the repository. */
  async filesOf(commit: ObjectId): Promise<ReadonlyMap<BytePath, ObjectId>> {
    const { objects } = this.#user
    const listed = await listCommit(this.#repository.gitDir, { objects, commit })
    return new Map((listed ?? []).map(({ path, id }) => [path, id]))
  }

  /** Whether the commit has the content of a snapshot, if need be with other line ends. */
  async isSame(saved: ObjectId, committed: ObjectId): Promise<boolean> {
    if (saved === committed) return true
    const content = (await this.#blobs.read(saved)).toString('latin1')
    if (!content.includes('\r\n')) return false
    return objectIdOf('blob', Buffer.from(content.replaceAll('\r\n', '\n'), 'latin1')) === committed
  }

  close(): void {
    this.#blobs.close()
    this.#repository.remove()
  }
}

/** A bundle of `refs/notes/savestate`. */
export async function bundleNotes(
  gitDir: string,
  notes: readonly { readonly commit: string; readonly text: string }[],
  atMs: number,
): Promise<Buffer> {
  const repository = new TemporaryRepository({ objects: join(gitDir, 'objects'), user: undefined })
  try {
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
    const files = notes.map(({ commit, text }) => `M 100644 inline ${commit}\n${data(text)}`)
    const by = `Savestate <savestate@localhost> ${Math.floor(atMs / 1000)} +0000`
    const head = `commit ${NOTES}\ncommitter ${by}\n${data('Notes by Savestate\n')}`
    await repository.run(['fast-import', '--quiet'], `${head}${files.join('')}`)
    return await repository.bundle([NOTES], undefined)
  } finally {
    repository.remove()
  }
}
