// The contents of changed files for a search. Each content is read once, at the newest checkpoint that changed a file to it.
import type { IndexedCheckpoint } from '../../ledger/index.js'
import { type BytePath, isInside, parseObjectId, parsePathText } from '../../model/index.js'
import type { SnapshotFiles } from '../../snapshot/index.js'

/** Larger files are rarely written by hand. */
const MAX_FILE_BYTES = 1024 * 1024
/** Takes some seconds. */
const MAX_BYTES = 512 * 1024 * 1024
/** As git does: a file with a zero among its first bytes is binary. */
const BINARY_BYTES = 8000

export type ContentText = {
  readonly where: 'content'
  readonly text: string
  readonly path: string
}

export class ContentReader {
  readonly #files: SnapshotFiles
  readonly #read = new Set<string>()
  #bytes = 0

  constructor(files: SnapshotFiles) {
    this.#files = files
  }

  /** The rest is not read. */
  get isExhausted(): boolean {
    return this.#bytes > MAX_BYTES
  }

  /** Reads the files at or below `within` that the checkpoint changed. Throws STORE_DAMAGED. */
  async textsOf(
    { changes }: Pick<IndexedCheckpoint, 'changes'>,
    within: BytePath | undefined,
  ): Promise<readonly ContentText[]> {
    const texts: ContentText[] = []
    for (const [path, blob] of changes) {
      if (blob === null || this.#read.has(blob) || this.isExhausted) continue
      if (within !== undefined && !isInside(parsePathText(path), within)) continue
      this.#read.add(blob)
      const bytes = await this.#files.content(parseObjectId(blob), { maxBytes: MAX_FILE_BYTES })
      this.#bytes += bytes?.length ?? 0
      if (bytes === undefined || bytes.subarray(0, BINARY_BYTES).includes(0)) continue
      texts.push({ where: 'content', text: bytes.toString('utf8'), path })
    }
    return texts
  }

  close(): void {
    this.#files.close()
  }
}
