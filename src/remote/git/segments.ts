// Segments of a log: the files `segments/<n>` in the tree of its ref.
import type { LogName } from '../../model/index.js'
import { MAX_BODY_BYTES } from '../codec/index.js'
import type { DriverCommit, DriverCommitResult } from '../driver.js'
import type { EncodedSegment } from '../remote.js'
import type { FileChange } from './build-commit.js'
import { holds } from './leases.js'
import { emptyManifest, headOf, type LogManifest, type SegmentEntry } from './log-manifest.js'
import type { Decision, LogStore } from './log-store.js'
import { addPacks, dropStaged } from './packs.js'

const pathOf = (n: number) => `segments/${n}`

export async function commitSegment(
  store: LogStore,
  commit: DriverCommit,
): Promise<DriverCommitResult> {
  const { log } = commit
  const decide = async ({ manifest }: { readonly manifest: LogManifest | undefined }) =>
    decideCommit(store, { commit, manifest })
  const result = await store.update(log, decide, { mayBeCached: true })
  if (result.kind === 'done') await dropStaged(store, commit.packs)
  return result
}

async function decideCommit(
  store: LogStore,
  {
    commit,
    manifest,
  }: { readonly commit: DriverCommit; readonly manifest: LogManifest | undefined },
): Promise<Decision<DriverCommitResult>> {
  const { segment, isBase, fence } = commit
  const current = manifest ?? startOfLog(commit)
  if (current === undefined) return { result: { kind: 'conflict', head: undefined } }
  if (!isAtPosition(current, commit)) {
    const isThere = current.segments.some(({ n, hash }) => n === segment.n && hash === segment.hash)
    if (!isThere || manifest === undefined)
      return { result: { kind: 'conflict', head: headOf(current) } }
    const position = { nextN: segment.n + 1, epoch: current.epoch, hash: segment.hash }
    const isFenced = fence !== null && !holds(current, fence)
    return { result: { kind: 'done', position, ...(isFenced ? { isFenced } : {}) } }
  }
  const added = await addPacks(store, current, commit)
  if (added === undefined) return { result: { kind: 'missing-pack' } }
  const { n, prev, hash, body } = segment
  const entry: SegmentEntry = { n, prev, hash, bytes: body.length }
  const position = { nextN: n + 1, epoch: current.epoch + (isBase ? 1 : 0), hash }
  const next: LogManifest = {
    ...withChanges(current, commit, store.nowMs()),
    ...position,
    segments: isBase ? [entry] : [...current.segments, entry],
    packs: added.packs,
  }
  const segments: FileChange[] = [
    ...(isBase ? [{ path: 'segments', isRemoved: true } as const] : []),
    { path: pathOf(n), content: body },
  ]
  return {
    result: { kind: 'done', position },
    write: { manifest: next, segments, packs: added.files },
  }
}

/** The first segment of a log without a lease creates it. */
function startOfLog({ log, fence, before, project = null }: DriverCommit): LogManifest | undefined {
  const isNew = log.kind !== 'session' && fence === null && before.nextN === 1
  return isNew ? emptyManifest(log, { agent: null, project }) : undefined
}

function isAtPosition(manifest: LogManifest, commit: DriverCommit): boolean {
  const { log, fence, before, isBase, changes } = commit
  const isRevival = log.kind !== 'session' && isBase && changes !== null
  return (
    manifest.nextN === before.nextN &&
    manifest.epoch === before.epoch &&
    manifest.hash === before.hash &&
    (isRevival || !manifest.isDeleted) &&
    (fence === null || holds(manifest, fence))
  )
}

function withChanges(
  manifest: LogManifest,
  { isBase, changes }: DriverCommit,
  nowMs: number,
): LogManifest {
  if (changes === null) return manifest
  const { status, card, checkpoints, removedCheckpoints } = changes
  const removed = new Set(removedCheckpoints)
  const kept = isBase ? [] : manifest.checkpoints.filter(({ id }) => !removed.has(id))
  const all = new Map([...kept, ...checkpoints].map((checkpoint) => [checkpoint.id, checkpoint]))
  return {
    ...manifest,
    status,
    card,
    isDeleted: false,
    // The clocks of two hosts differ.
    updatedAtMs: Math.max(nowMs, manifest.updatedAtMs + 1),
    checkpoints: [...all.values()],
  }
}

/** The log as it was when the reading began: a compaction meanwhile is no harm. */
export async function* readSegments(
  store: LogStore,
  log: LogName,
  afterN: number,
): AsyncGenerator<EncodedSegment> {
  const { repository } = store
  const { manifest, log: value } = await repository.withLock(async () => {
    await store.fetch([log])
    return store.read(log)
  })
  if (manifest === undefined || value === undefined) return
  const files = await repository.list(value.commit)
  const rest = manifest.segments.filter(({ n }) => n > afterN)
  const blobs = rest.map(({ n }) => {
    const blob = files.get(pathOf(n))
    if (blob !== undefined && blob.bytes <= MAX_BODY_BYTES) return blob
    throw repository.damaged(`segment ${n} of ${log.kind} ${log.id} is missing or too large`)
  })
  let at = 0
  for await (const body of repository.readPages(blobs)) {
    const { n, prev, hash } = rest[at++] as SegmentEntry
    yield { n, prev, hash, body }
  }
}
