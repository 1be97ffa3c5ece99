// The files of a snapshot with chosen changes taken back.
import {
  type BytePath,
  type Entry,
  type HunkChoice,
  parentOf,
  printablePath,
  ROOT,
  SavestateError,
  type ObjectId,
} from '../../model/index.js'
import type { SnapshotComparer } from '../compare/compare.js'
import { patchFile } from '../compare/file-patch.js'
import type { BlobReader } from '../git/blob-reader.js'
import { selectLines } from './select-lines.js'

export type ChosenHunks = Pick<HunkChoice, 'mark' | 'hunks'> & {
  readonly path: BytePath
  readonly context: number
}

type Tools = {
  readonly gitDir: string
  readonly blobs: BlobReader
  readonly headers: BlobReader
  readonly comparer: SnapshotComparer
  readonly storeBlob: (content: Buffer) => ObjectId
}

/** Throws PLAN_STALE if a file differs from the patch that its choice was made from, and BAD_INPUT for a choice without sense. */
export async function chooseHunks(
  { target, now }: { readonly target: ObjectId; readonly now: ObjectId },
  choices: readonly ChosenHunks[],
  tools: Tools,
): Promise<ReadonlyMap<BytePath, Entry | undefined>> {
  const changes = new Map<BytePath, Entry | undefined>()
  for (const choice of choices) {
    const { path } = choice
    if (changes.has(path)) throw badChoice(path, 'is named twice')
    const change = await tools.comparer.changeAt(target, now, path)
    if (change === undefined) throw badChoice(path, 'is on neither side')
    const patch = await patchFile(change, { ...tools, ...choice, encoding: 'latin1' })
    if (patch.mark !== choice.mark) throw staleChoice(path)
    const entry = await entryFor(choice, { ...change, ...patch }, tools)
    await refuseObstacles(path, { entry, present: change.after, now, tools })
    changes.set(path, entry)
  }
  return changes
}

async function entryFor(
  { path, hunks }: ChosenHunks,
  found: Awaited<ReturnType<typeof patchFile>> & {
    readonly before: Entry | undefined
    readonly after: Entry | undefined
  },
  { blobs, storeBlob }: Tools,
): Promise<Entry | undefined> {
  const { before, after, kind } = found
  if (hunks === 'all') return before
  if (kind !== 'text' || before?.type === 'folder' || after?.type === 'folder')
    throw badChoice(path, 'has no hunks that can be chosen; take it as a whole')
  const lines = new Set(hunks.map((one) => (typeof one === 'number' ? one : one.hunk)))
  const isWhole = hunks.every((one) => typeof one === 'number') && lines.size === found.hunks.length
  // A file that was added or removed since: all of its lines are the file itself.
  if (isWhole && (before === undefined || after === undefined)) return before
  const newer = after?.type === 'file' ? await blobs.read(after.blob) : Buffer.alloc(0)
  const text = selectLines(newer.toString('latin1'), found.hunks, hunks)
  const mode = (after ?? before) as { readonly mode: number }
  return { type: 'file', blob: storeBlob(Buffer.from(text, 'latin1')), mode: mode.mode }
}

/** Only the path itself changes, so an entry cannot replace a folder, or need one where a file is. */
async function refuseObstacles(
  path: BytePath,
  {
    entry,
    present,
    now,
    tools,
  }: {
    readonly entry: Entry | undefined
    readonly present: Entry | undefined
    readonly now: ObjectId
    readonly tools: Tools
  },
): Promise<void> {
  if (entry === undefined) return
  const replacesFolder = present?.type === 'folder' && entry.type !== 'folder'
  for (let folder = parentOf(path); folder !== ROOT; folder = parentOf(folder)) {
    const above = await tools.comparer.changeAt(undefined, now, folder)
    if (above?.after !== undefined && above.after.type !== 'folder')
      throw badChoice(path, `cannot be restored alone: ${printablePath(folder)} is in the way`)
  }
  if (replacesFolder) throw badChoice(path, 'cannot be restored alone: a folder is in the way')
}

function badChoice(path: BytePath, what: string): SavestateError {
  return new SavestateError('BAD_INPUT', `${printablePath(path)} ${what}`)
}

function staleChoice(path: BytePath): SavestateError {
  return new SavestateError(
    'PLAN_STALE',
    `Nothing was changed: ${printablePath(path)} has changed since its hunks were chosen`,
    { hint: 'Get its patch again, and choose again.' },
  )
}
