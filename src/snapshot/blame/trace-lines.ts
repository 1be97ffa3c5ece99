// Finds the snapshot in which each line of a file first appeared: walks the versions of the file from the newest to the oldest, and
// follows each line as long as the next version has it. The versions and their order are those of file-versions.ts.
import type { BytePath, ObjectId } from '../../model/index.js'
import type { SnapshotComparer } from '../compare/compare.js'
import type { BlobReader } from '../git/blob-reader.js'
import { hasNul } from '../objects/count-lines.js'
import { type FileVersion, findVersions } from './file-versions.js'
import { countOf, type Lines, type Matched, matchLines, splitLines } from './match-lines.js'

export type BlameRequest = {
  /** The snapshots to search, newest first. */
  readonly trees: readonly ObjectId[]
  /** The numbers of those that a rewind made: lines that they brought back keep their origin. */
  readonly restored: readonly number[]
  readonly path: BytePath
  /** Only these lines, counted from 1, both inclusive. */
  readonly from: number
  readonly to: number
}

export type BlamedFile = {
  readonly kind: 'text'
  readonly content: Uint8Array
  /** Where each line begins, and the length of the content. */
  readonly starts: Int32Array
  /** For each line, the number of the snapshot that it first appeared in; NOT_WANTED for lines out of the range. */
  readonly origins: Int32Array
  /** The file in the oldest snapshot; undefined if that does not have it. */
  readonly oldest:
    | { readonly path: BytePath; readonly content: Uint8Array; readonly lines: Int32Array }
    | undefined
}

export type Blamed =
  | BlamedFile
  | { readonly kind: 'binary' | 'large' | 'link' | 'folder' | 'absent' }

export const NOT_WANTED = -1
const NONE = -1
const MAX_BYTES = 10 << 20
/** How many versions are read ahead: git reads the next one while this process compares. */
const READ_AHEAD = 4
/** How many versions are searched for lines that a rewind brought back, if no version is equal as a whole. */
const MAX_SEARCHED = 200

export type BlameSources = {
  readonly gitDir: string
  readonly comparer: SnapshotComparer
  readonly blobs: BlobReader
}

export async function traceLines(request: BlameRequest, sources: BlameSources): Promise<Blamed> {
  const { trees, path, restored } = request
  const [newest] = trees
  const entry =
    newest === undefined
      ? undefined
      : (await sources.comparer.changeAt(undefined, newest, path))?.after
  if (entry === undefined) return { kind: 'absent' }
  if (entry.type !== 'file') return { kind: entry.type }
  const versions = await findVersions({ trees, path }, sources)
  if ((versions[0]?.sizeBytes ?? 0) > MAX_BYTES) return { kind: 'large' }
  return new LineTracer({ versions, restored: new Set(restored) }, sources.blobs).trace(request)
}

/** Lines to follow from one version on. `wanted` has the line of the newest version for each line of this one, or NONE. */
type Walk = { readonly at: number; readonly lines: Lines; readonly wanted: Int32Array }

class LineTracer {
  readonly #versions: readonly FileVersion[]
  readonly #restored: ReadonlySet<number>
  readonly #blobs: BlobReader
  readonly #reading = new Map<number, Promise<Buffer>>()
  readonly #walks: Walk[] = []
  #origins = new Int32Array(0)
  #oldest: BlamedFile['oldest']

  constructor(
    {
      versions,
      restored,
    }: { readonly versions: readonly FileVersion[]; readonly restored: ReadonlySet<number> },
    blobs: BlobReader,
  ) {
    this.#versions = versions
    this.#restored = restored
    this.#blobs = blobs
  }

  async trace({ trees, from, to }: BlameRequest): Promise<Blamed> {
    const content = await this.#contentOf(0)
    if (content === undefined || hasNul(content)) return { kind: 'binary' }
    const lines = splitLines(content)
    const count = countOf(lines)
    const wanted = Int32Array.from({ length: count }, (_, n) =>
      n + 1 < from || n >= to ? NONE : n,
    )
    this.#origins = new Int32Array(count).fill(NOT_WANTED)
    this.#walks.push({ at: 0, lines, wanted })
    for (let walk = this.#walks.pop(); walk !== undefined; walk = this.#walks.pop())
      await this.#walk(walk, trees.length - 1)
    const { starts } = lines
    return { kind: 'text', content, starts, origins: this.#origins, oldest: this.#oldest }
  }

  /** Follows the lines until each has an origin. `last` is the number of the oldest snapshot. */
  async #walk(walk: Walk, last: number): Promise<void> {
    let { at, lines, wanted } = walk
    while (wanted.some((line) => line !== NONE)) {
      const madeBy = this.#versions[at]?.madeBy ?? last
      if (madeBy === last) {
        this.#end(wanted, { at, lines, madeBy })
        return
      }
      const isRestored = this.#restored.has(madeBy)
      const same = isRestored ? this.#sameBefore(at) : undefined
      at = same ?? at + 1
      if (same !== undefined) continue
      const content = await this.#contentOf(at)
      const matched = content === undefined ? undefined : matchLines(lines, content)
      const rest = matched === undefined ? wanted : withoutMatched(wanted, matched)
      this.#attribute(
        isRestored ? await this.#findEarlier(rest, { at: at + 1, lines }) : rest,
        madeBy,
      )
      if (matched === undefined) return
      wanted = carry(wanted, matched)
      lines = matched.older
    }
  }

  #attribute(wanted: Int32Array, madeBy: number): void {
    for (const line of wanted) if (line !== NONE) this.#origins[line] = madeBy
  }

  #end(wanted: Int32Array, { at, lines, madeBy }: Omit<Walk, 'wanted'> & { madeBy: number }): void {
    const path = this.#versions[at]?.path
    this.#attribute(wanted, madeBy)
    if (path === undefined) return
    const { content } = lines
    this.#oldest ??= { path, content, lines: new Int32Array(this.#origins.length).fill(NONE) }
    for (const [n, line] of wanted.entries()) if (line !== NONE) this.#oldest.lines[line] = n
  }

  /** The next older version that is equal as a whole, which a rewind brought back. */
  #sameBefore(at: number): number | undefined {
    const blob = this.#versions[at]?.blob
    const found = this.#versions.findIndex((one, n) => n > at && one.blob === blob)
    return found === -1 ? undefined : found
  }

  /** Follows lines that a rewind merged into the file from the versions that had them. Returns those that none had. */
  async #findEarlier(
    wanted: Int32Array,
    { at: first, lines }: Omit<Walk, 'wanted'>,
  ): Promise<Int32Array> {
    let left = wanted
    const most = Math.min(this.#versions.length, first + MAX_SEARCHED)
    for (let at = first; at < most && left.some((line) => line !== NONE); at += 1) {
      const content = await this.#contentOf(at)
      if (content === undefined) continue
      const matched = matchLines(lines, content)
      const found = carry(left, matched)
      if (found.every((line) => line === NONE)) continue
      this.#walks.push({ at, lines: matched.older, wanted: found })
      left = withoutMatched(left, matched)
    }
    return left
  }

  /** Undefined if that version does not exist, or is too large: then no line of it counts as kept. */
  async #contentOf(at: number): Promise<Buffer | undefined> {
    for (const n of this.#reading.keys()) if (n < at || n > at + READ_AHEAD) this.#reading.delete(n)
    for (let n = at; n <= at + READ_AHEAD; n += 1) this.#startReading(n)
    const content = await this.#reading.get(at)
    return content === undefined || content.length > MAX_BYTES ? undefined : content
  }

  #startReading(at: number): void {
    const { blob, sizeBytes } = this.#versions[at] ?? {}
    if (blob === undefined || (sizeBytes ?? 0) > MAX_BYTES || this.#reading.has(at)) return
    const reading = this.#blobs.read(blob)
    // The walk may end before it gets there; otherwise it reports the error.
    reading.catch(() => undefined)
    this.#reading.set(at, reading)
  }
}

/** `wanted` for the lines of the older version. */
function carry(wanted: Int32Array, { older, runs }: Matched): Int32Array {
  const before = new Int32Array(countOf(older)).fill(NONE)
  for (const { newer, older: at, count } of runs)
    before.set(wanted.subarray(newer, newer + count), at)
  return before
}

/** `wanted` without the lines that the older version has. */
function withoutMatched(wanted: Int32Array, { runs }: Matched): Int32Array {
  const rest = wanted.slice()
  for (const { newer, count } of runs) rest.fill(NONE, newer, newer + count)
  return rest
}
