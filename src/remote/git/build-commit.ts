// Builds a commit in the driver's copy with one `git fast-import`: files are added to or removed from a tree that exists. It has no
// parent, so that the server can forget what was removed.
import type { ObjectId, ScratchRepository } from './local-copy.js'

export type FileChange = { readonly path: string } & (
  | { readonly content: Uint8Array }
  | { readonly blob: ObjectId }
  /** A file or a folder; it need not exist. */
  | { readonly isRemoved: true }
)

export type NewCommit = {
  /** The ref of the copy that gets the commit. */
  readonly ref: string
  /** The tree to begin with. */
  readonly tree: ObjectId | null
  readonly atMs: number
  readonly files: Iterable<FileChange> | AsyncIterable<FileChange>
}

const MESSAGE = 'savestate'

export async function buildCommit(
  repository: ScratchRepository,
  commit: NewCommit,
): Promise<ObjectId> {
  const id = (await repository.importObjects(commandsFor(commit))).trim()
  if (!/^[0-9a-f]{40}$/.test(id)) throw new Error(`git fast-import said ${JSON.stringify(id)}`)
  return id
}

async function* commandsFor({
  ref,
  tree,
  atMs,
  files,
}: NewCommit): AsyncGenerator<Uint8Array | string> {
  const seconds = Math.max(0, Math.floor(atMs / 1000))
  yield `commit ${ref}\nmark :1\ncommitter Savestate <savestate@localhost> ${seconds} +0000\n`
  yield `data ${MESSAGE.length}\n${MESSAGE}\n`
  yield tree === null ? 'deleteall\n' : `M 040000 ${tree} ""\n`
  for await (const file of files) {
    if ('isRemoved' in file) yield `D ${file.path}\n`
    else if ('blob' in file) yield `M 100644 ${file.blob} ${file.path}\n`
    else {
      yield `M 100644 inline ${file.path}\ndata ${file.content.length}\n`
      yield file.content
      yield '\n'
    }
  }
  yield '\nget-mark :1\ndone\n'
}
