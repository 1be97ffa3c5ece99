// Turns the contents of files into objects: here when they are few, on hash threads when they are many.
// Large files are streamed in either case.
import { closeSync, fstatSync } from 'node:fs'
import { invariant, type SkipReason } from '../../model/index.js'
import { linesOf } from '../objects/count-lines.js'
import { nameLooseObject, syncFolders } from '../objects/loose.js'
import type { ObjectSink, ObjectStore } from '../objects/object-store.js'
import { STREAM_BYTES, streamBlob } from '../objects/stream-blob.js'
import type { HashPool } from './hash-pool.js'
import { newSkipped } from './node.js'
import { isUnchanged, openForReading, type ReadFault, readLink, readStable } from './read-file.js'
import type { Pending } from './scan.js'
import { isSettled, setStamp } from './stats.js'

const MANY = 300
const MANY_BYTES = 8 << 20

export type HashContext = {
  readonly store: ObjectStore
  readonly sink: ObjectSink
  readonly durable: boolean
  readonly startPool: () => HashPool
  readonly onProgress: (files: number, bytes: number) => void
}

export async function hashPending(
  pending: readonly Pending[],
  context: HashContext,
): Promise<void> {
  const large = pending.filter(({ node }) => node.kind === 'file' && node.size >= STREAM_BYTES)
  const links = pending.filter(({ node }) => node.kind === 'link')
  const small = pending.filter(({ node }) => node.kind === 'file' && node.size < STREAM_BYTES)
  const smallBytes = small.reduce((sum, { node }) => sum + node.size, 0)

  for (const item of links) hashLink(item, context)
  if (small.length > MANY || smallBytes > MANY_BYTES) {
    await context.startPool().hash(small, context)
  } else {
    for (const item of small) hashHere(item, context)
  }
  for (const item of large) await hashStreamed(item, context)
}

/** The node becomes a skipped one, or goes if the file has gone. */
export function giveUp({ node, folder }: Pending, fault: ReadFault): void {
  const at = folder.children.indexOf(node)
  invariant(at !== -1, 'a file that was to be read is in its folder')
  const reason: SkipReason = fault === 'unreadable' ? 'unreadable' : 'unstable'
  const replacement = newSkipped(node.name, { reason, isFolder: false })
  folder.children.splice(at, 1, ...(fault === 'gone' ? [] : [replacement]))
  folder.settled = false
}

function hashLink(item: Pending, { sink, onProgress }: HashContext): void {
  const readAtMs = Date.now()
  const target = readLink(item.path)
  if (typeof target === 'string') {
    giveUp(item, target)
    return
  }
  // A link cannot be changed in place: the stamp of the listing is that of this target, or the next
  // listing differs.
  item.node.settled = isSettled(item.node, readAtMs)
  item.node.id = sink.add('blob', target)
  item.node.lines = linesOf(target)
  onProgress(1, target.length)
}

function hashHere(item: Pending, { sink, onProgress }: HashContext): void {
  const read = readStable(item.path)
  if (typeof read === 'string') {
    giveUp(item, read)
    return
  }
  setStamp(item.node, read.stats)
  item.node.settled = isSettled(read.stats, read.readAtMs)
  item.node.id = sink.add('blob', read.content)
  item.node.lines = linesOf(read.content)
  onProgress(1, read.content.length)
}

async function hashStreamed(item: Pending, context: HashContext): Promise<void> {
  const { sink, store, durable, onProgress } = context
  for (let attempt = 0; attempt < 3; attempt++) {
    const fd = openForReading(item.path)
    if (typeof fd === 'string') {
      giveUp(item, fd)
      return
    }
    try {
      const readAtMs = Date.now()
      const before = fstatSync(fd, { bigint: true })
      const size = Number(before.size)
      const blob = await streamBlob(fd, { size, temporary: sink.temporary, durable })
      const after = fstatSync(fd, { bigint: true })
      if (blob === undefined || !isUnchanged(before, after)) continue
      if (!store.has(blob.id)) {
        const changed = nameLooseObject(store.folder, blob)
        if (durable) await syncFolders(changed)
      }
      setStamp(item.node, after)
      item.node.settled = isSettled(after, readAtMs)
      item.node.id = blob.id
      item.node.lines = blob.lines
      onProgress(1, size)
      return
    } finally {
      closeSync(fd)
    }
  }
  giveUp(item, 'unstable')
}
