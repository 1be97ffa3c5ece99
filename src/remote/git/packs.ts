// Packs: files `<pack>/<chunk>` in the tree of a ref beside that of the log, so that a list of logs needs no packs. An uploaded pack is
// first kept in the driver's copy, and sent with the commit that refers to it. A log has all packs of its checkpoints: where a fork uses
// those of another log, they become files of its own tree, which costs the server nothing.
import { fieldsOf, tryParseJson } from '../../base/index.js'
import { type LogName, PACK_CHUNK_BYTES, SavestateError } from '../../model/index.js'
import { buildCommit, type FileChange } from './build-commit.js'
import type { DriverCommit, DriverPack, StoredPack } from '../driver.js'
import { type LogManifest, MAX_HEAD_BYTES, type PackEntry } from './log-manifest.js'
import type { LogStore } from './log-store.js'
import { escapeId, logRef, STAGED_REFS, stagedRef } from './ref-names.js'
import type { StoredBlob } from './local-copy.js'

const DAY_MS = 86_400_000
const METADATA = 'pack.json'

const pathOf = (pack: string, chunk: number) => `${escapeId(pack)}/${chunk}`

/** Keeps the pack in the copy. */
export function putPack(
  store: LogStore,
  pack: DriverPack,
  chunks: AsyncIterable<Uint8Array>,
): Promise<'done' | 'missing-pack'> {
  const { repository } = store
  return repository.withLock(async () => {
    if (await isKnown(store, pack.id)) return 'done'
    if (pack.parent !== null && !(await isKnown(store, pack.parent))) {
      await store.fetchAll()
      if (!(await isKnown(store, pack.parent))) return 'missing-pack'
    }
    await buildCommit(repository, {
      ref: stagedRef(pack.id),
      tree: null,
      atMs: store.nowMs(),
      files: stagedFiles(pack, chunks),
    })
    return 'done'
  })
}

async function isKnown(store: LogStore, pack: string): Promise<boolean> {
  if ((await readStaged(store, pack)) !== undefined) return true
  return (await store.readAll()).manifests.some(({ packs }) => packs.has(pack))
}

async function* stagedFiles(
  pack: DriverPack,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<FileChange> {
  let count = 0
  let bytes = 0
  for await (const content of chunks) {
    yield { path: String(count), content }
    count += 1
    bytes += content.length
  }
  const entry: PackEntry = { ...pack, chunks: count, bytes }
  yield { path: METADATA, content: Buffer.from(JSON.stringify(entry), 'utf8') }
}

type Found = { readonly entry: PackEntry; readonly files: readonly FileChange[] }

/** The file was written by this program, on this machine. */
async function readStaged(store: LogStore, id: string): Promise<Found | undefined> {
  const { repository } = store
  const value = (await repository.refs(stagedRef(id))).get(stagedRef(id))
  if (value === undefined) return undefined
  const blobs = await repository.list(value.commit)
  const metadata = await repository.readBlob(`${value.commit}:${METADATA}`, MAX_HEAD_BYTES)
  const entry = fieldsOf(tryParseJson(String(metadata))) as PackEntry
  const files = Array.from({ length: entry.chunks }, (_, chunk) => ({
    path: pathOf(id, chunk),
    blob: blobs.get(String(chunk))?.id ?? '',
  }))
  return { entry, files }
}

/** Once a commit has them. */
export async function dropStaged(store: LogStore, packs: DriverCommit['packs']): Promise<void> {
  const refs = packs.flatMap(({ id, body }) => (body === undefined ? [stagedRef(id)] : []))
  if (refs.length === 0) return
  const staged = await store.repository.refs(...refs)
  await store.repository.setRefs([...staged.keys()].map((ref) => ({ ref, commit: null })))
}

type Added = {
  /** All packs of the log from now on. */
  readonly packs: ReadonlyMap<string, PackEntry>
  readonly files: readonly FileChange[]
}

/** Undefined if the remote lacks a pack that the commit refers to. */
export async function addPacks(
  store: LogStore,
  manifest: LogManifest,
  { packs: sent, changes }: DriverCommit,
): Promise<Added | undefined> {
  const packs = new Map(manifest.packs)
  const files: FileChange[] = []
  const add = (found: Found) => {
    packs.set(found.entry.id, found.entry)
    for (const file of found.files) files.push(file)
  }
  const has = async (id: string | null): Promise<boolean> => {
    if (id === null || packs.has(id)) return true
    const staged = await readStaged(store, id)
    if (staged !== undefined) {
      if (!(await has(staged.entry.parent))) return false
      add(staged)
      return true
    }
    const chain = await findElsewhere(store, id)
    for (const found of chain) if (!packs.has(found.entry.id)) add(found)
    return chain.length > 0
  }
  for (const { body, ...pack } of sent) {
    if (packs.has(pack.id)) continue
    if (body === undefined) {
      if (!(await has(pack.id))) return undefined
    } else {
      if (!(await has(pack.parent))) return undefined
      const entry = { ...pack, chunks: 1, bytes: body.length }
      add({ entry, files: [{ path: pathOf(pack.id, 0), content: body }] })
    }
  }
  for (const { pack } of changes?.checkpoints ?? []) if (!(await has(pack))) return undefined
  return { packs, files }
}

/** The chain of a pack in another log, the outermost parent first; empty if there is none. */
async function findElsewhere(store: LogStore, id: string): Promise<readonly Found[]> {
  const log = await findLog(store, id)
  if (log === undefined) return []
  const { chain, blobs } = await readChain(store, { log, id, known: new Set() })
  return chain.map((entry) => ({
    entry,
    files: blobsOf(entry, blobs).map(({ id: blob }, chunk) => ({
      path: pathOf(entry.id, chunk),
      blob,
    })),
  }))
}

/** A log with this pack. */
async function findLog(store: LogStore, pack: string): Promise<LogName | undefined> {
  const find = async (names?: readonly string[]) =>
    (await store.readAll(names)).manifests.find(({ packs }) => packs.has(pack))?.log
  const known = await find()
  if (known !== undefined) {
    // The copy may be out of date.
    await store.fetch([known])
    if ((await find([logRef(known)])) !== undefined) return known
  }
  await store.fetchAll()
  return find()
}

/** Brings the packs of a log, and finds the chain of one of them, up to a known one. */
async function readChain(
  store: LogStore,
  {
    log,
    id,
    known,
  }: { readonly log: LogName; readonly id: string; readonly known: ReadonlySet<string> },
) {
  const { repository } = store
  await store.fetch([log], { withPacks: true })
  const { manifest, packs } = await store.read(log)
  const chain: PackEntry[] = []
  const seen = new Set<string>()
  for (let next: string | null = id; next !== null && !known.has(next); ) {
    const entry: PackEntry | undefined = manifest?.packs.get(next)
    // Only damage can make a circle.
    if (entry === undefined || seen.has(next)) throw missing(next)
    seen.add(next)
    chain.unshift(entry)
    next = entry.parent
  }
  const files =
    packs === undefined ? new Map<string, StoredBlob>() : await repository.list(packs.commit)
  return { chain, blobs: files }
}

function blobsOf(
  { id, chunks, bytes }: PackEntry,
  files: ReadonlyMap<string, StoredBlob>,
): readonly StoredBlob[] {
  if (chunks > files.size) throw missing(id)
  const blobs = Array.from({ length: chunks }, (_, chunk) => {
    const blob = files.get(pathOf(id, chunk))
    if (blob === undefined || blob.bytes > PACK_CHUNK_BYTES) throw missing(id)
    return blob
  })
  if (blobs.reduce((sum, blob) => sum + blob.bytes, 0) !== bytes) throw missing(id)
  return blobs
}

export async function* readPacks(
  store: LogStore,
  id: string,
  known: ReadonlySet<string>,
): AsyncGenerator<StoredPack> {
  const { repository } = store
  if (known.has(id)) return
  const { chain, blobs } = await repository.withLock(async () => {
    const log = await findLog(store, id)
    if (log === undefined) throw missing(id)
    return readChain(store, { log, id, known })
  })
  for (const entry of chain) {
    const { id: of, parent, tree } = entry
    yield { id: of, parent, tree, chunks: repository.readPages(blobsOf(entry, blobs)) }
  }
}

/**
 * Removes the packs that no checkpoint of their log needs, and uploads that no commit has used for a day. A log that cannot be read keeps all
 * of its packs.
 */
export async function collectPacks(
  store: LogStore,
): Promise<{ readonly removed: number; readonly bytes: number }> {
  const { repository } = store
  const logs = await repository.withLock(async () => {
    await repository.removeOldRefs(STAGED_REFS, store.nowMs() - DAY_MS)
    await store.fetchAll()
    return (await store.readAll()).manifests
  })
  const removed = new Map<string, number>()
  for (const { log } of logs.filter((manifest) => unneeded(manifest).length > 0))
    for (const { id, bytes } of await collectLog(store, log)) removed.set(id, bytes)
  // A fork may still have the same pack.
  const rest = await repository.withLock(() => store.readAll())
  for (const { packs } of rest.manifests) for (const id of packs.keys()) removed.delete(id)
  const bytes = [...removed.values()].reduce((sum, each) => sum + each, 0)
  return { removed: removed.size, bytes }
}

function collectLog(store: LogStore, log: LogName): Promise<readonly PackEntry[]> {
  return store.update<readonly PackEntry[]>(log, ({ manifest }) => {
    const gone = manifest === undefined ? [] : unneeded(manifest)
    if (manifest === undefined || gone.length === 0) return { result: [] }
    const packs = new Map(manifest.packs)
    for (const { id } of gone) packs.delete(id)
    const files = gone.map(({ id }) => ({ path: escapeId(id), isRemoved: true }) as const)
    return { result: gone, write: { manifest: { ...manifest, packs }, packs: files } }
  })
}

function unneeded({ checkpoints, packs }: LogManifest): readonly PackEntry[] {
  const needed = new Set<string>()
  for (const { pack } of checkpoints)
    for (let id = pack; id !== null && !needed.has(id); id = packs.get(id)?.parent ?? null)
      needed.add(id)
  return [...packs.values()].filter(({ id }) => !needed.has(id))
}

function missing(id: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `The remote lacks pack ${id}, or a part of it`, {
    hint: 'Run `savestate verify --remote`.',
  })
}
