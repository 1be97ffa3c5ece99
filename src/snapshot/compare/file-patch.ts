// The patch of one file between two snapshots, as hunks. git compares the two blobs themselves, so no path has to be passed to it.
import { createHash } from 'node:crypto'
import type { Entry, ObjectId } from '../../model/index.js'
import type { BlobReader } from '../git/blob-reader.js'
import { runGit } from '../git/git-program.js'
import { hasNul } from '../objects/count-lines.js'
import type { Change } from './compare.js'

export type Hunk = {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  /** The text that git shows after the line numbers, such as the name of a function; often empty. */
  readonly heading: string
  /** Each begins with ' ', '+' or '-'. A line that begins with '\' says that the line before it has no newline. */
  readonly lines: readonly string[]
}

/**
 * `large`: the patch has more than 10 MB. `unchanged`: the contents are equal, but the modes may differ. `folder`: there is no
 * file on either side.
 */
export type PatchKind = 'text' | 'binary' | 'link' | 'folder' | 'large' | 'unchanged'

export type ContentPatch = {
  readonly kind: PatchKind
  /** Equal for two patches with the same hunks. */
  readonly mark: string
  /** In bytes; null if that side has no file. */
  readonly sizeBefore: number | null
  readonly sizeAfter: number | null
  /** Null if the lines were not compared. */
  readonly insertions: number | null
  readonly deletions: number | null
  readonly hunks: readonly Hunk[]
}

export type PatchSources = {
  readonly gitDir: string
  readonly blobs: BlobReader
  /** Reads only headers, for sizes. */
  readonly headers: BlobReader
  /** How many unchanged lines to show around a change. */
  readonly context: number
  /** How the lines are decoded. */
  readonly encoding: 'utf8' | 'latin1'
}

const MAX_PATCH_BYTES = 10 << 20
const NOT_COMPARED = { insertions: null, deletions: null, hunks: [] }

export async function patchFile(
  { before, after }: Pick<Change, 'before' | 'after'>,
  sources: PatchSources,
): Promise<ContentPatch> {
  const [one, other] = [blobOf(before), blobOf(after)]
  const [sizeBefore, sizeAfter] = await Promise.all([
    sizeOf(one, sources.headers),
    sizeOf(other, sources.headers),
  ])
  const mark = createHash('sha256').update(`${one} ${other} ${sources.context}`).digest('hex')
  const sizes = { mark, sizeBefore, sizeAfter }
  if (one === undefined && other === undefined) return { kind: 'folder', ...sizes, ...NOT_COMPARED }
  if (one === other) return { kind: 'unchanged', ...sizes, insertions: 0, deletions: 0, hunks: [] }
  // A patch is at least as long as what was added or removed.
  if (Math.abs((sizeBefore ?? 0) - (sizeAfter ?? 0)) > MAX_PATCH_BYTES)
    return { kind: 'large', ...sizes, ...NOT_COMPARED }
  const hunks = await readHunks(one, other, sources)
  if (typeof hunks === 'string') return { kind: hunks, ...sizes, ...NOT_COMPARED }
  const kind = before?.type === 'link' || after?.type === 'link' ? 'link' : 'text'
  const counts = { insertions: countLines(hunks, '+'), deletions: countLines(hunks, '-') }
  return { kind, ...sizes, ...counts, hunks }
}

function blobOf(entry: Entry | undefined): ObjectId | undefined {
  return entry === undefined || entry.type === 'folder' ? undefined : entry.blob
}

async function sizeOf(blob: ObjectId | undefined, headers: BlobReader): Promise<number | null> {
  if (blob === undefined) return null
  let size = 0
  const start = (bytes: number) => {
    size = bytes
  }
  await headers.stream(blob, { start, chunk: () => undefined })
  return size
}

type Unreadable = 'binary' | 'large'

async function readHunks(
  before: ObjectId | undefined,
  after: ObjectId | undefined,
  { gitDir, blobs, context, encoding }: PatchSources,
): Promise<readonly Hunk[] | Unreadable> {
  if (before === undefined || after === undefined) {
    const content = await readWhole(before ?? after, blobs)
    // The rule of git.
    if (hasNul(content)) return 'binary'
    return wholeFile(content.toString(encoding), before === undefined ? '+' : '-')
  }
  const patch = await comparedText(gitDir, {
    args: [`--unified=${context}`, before, after],
    encoding,
  })
  if (patch === undefined) return 'large'
  return /^Binary files .* differ$/m.test(patch.slice(0, 1000)) && !patch.includes('\n@@ ')
    ? 'binary'
    : parseHunks(patch)
}

async function readWhole(id: ObjectId | undefined, blobs: BlobReader): Promise<Buffer> {
  return id === undefined ? Buffer.alloc(0) : blobs.read(id)
}

/** Undefined if it is longer than the limit: the rest is dropped as it arrives. */
async function comparedText(
  gitDir: string,
  { args, encoding }: Pick<PatchSources, 'encoding'> & { readonly args: readonly string[] },
): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  const onOutput = (chunk: Buffer) => {
    length += chunk.length
    if (length <= MAX_PATCH_BYTES) chunks.push(chunk)
  }
  const options = ['--no-ext-diff', '--no-textconv', '--color=never']
  await runGit(gitDir, ['diff', ...options, ...args, '--'], { onOutput })
  return length > MAX_PATCH_BYTES ? undefined : Buffer.concat(chunks).toString(encoding)
}

const NO_NEWLINE = '\\ No newline at end of file'

/** A file that was added or removed is one hunk, as in git. */
function wholeFile(text: string, sign: '+' | '-'): readonly Hunk[] {
  if (text === '') return []
  const lines = text.split('\n')
  const isEnded = lines.at(-1) === ''
  if (isEnded) lines.pop()
  const count = lines.length
  const signed = lines.map((line) => sign + line)
  const [whole, none] = [
    { start: 1, lines: count },
    { start: 0, lines: 0 },
  ]
  const [one, other] = sign === '+' ? [none, whole] : [whole, none]
  return [
    {
      oldStart: one.start,
      oldLines: one.lines,
      newStart: other.start,
      newLines: other.lines,
      heading: '',
      lines: isEnded ? signed : [...signed, NO_NEWLINE],
    },
  ]
}

/** The heading is text of the file: it may contain a carriage return or another line separator that `.` does not match. */
const HUNK_LINE = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?([^]*)$/

/** From git's patch of one file. */
function parseHunks(patch: string): readonly Hunk[] {
  const hunks: (Hunk & { readonly lines: string[] })[] = []
  for (const line of patch.split('\n')) {
    const head = line.startsWith('@@ ') ? HUNK_LINE.exec(line) : null
    if (head !== null) {
      const [, oldStart, oldLines = '1', newStart, newLines = '1', heading = ''] = head
      hunks.push({
        oldStart: Number(oldStart),
        oldLines: Number(oldLines),
        newStart: Number(newStart),
        newLines: Number(newLines),
        heading,
        lines: [],
      })
      // The lines before the first hunk name the file; the text after the last newline is empty.
    } else if (line !== '') hunks.at(-1)?.lines.push(line)
  }
  return hunks
}

function countLines(hunks: readonly Hunk[], sign: '+' | '-'): number {
  let count = 0
  for (const { lines } of hunks) for (const line of lines) if (line.startsWith(sign)) count += 1
  return count
}
