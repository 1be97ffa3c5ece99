// The files of checkpoints on their way to a remote: each one needs the objects that the pack before it does not have.
import type { NewestPack, PreparedSegment, SharedPack } from '../../ledger/index.js'
import {
  INLINE_PACK_BYTES,
  type LogName,
  makeId,
  type ObjectId,
  parseObjectId,
} from '../../model/index.js'
import type { CommitPack, Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import { changeNote, readNote } from '../store/kv-notes.js'

/** The most bytes of packs in one commit. Other packs are uploaded before it. */
const MAX_INLINE_BYTES = 4 * INLINE_PACK_BYTES
/** A chain of packs may have so many times the bytes of one pack with everything. */
const MAX_CHAIN = 2

/** Decides of each checkpoint without a pack which one it builds on. Nothing is read or sent yet. */
export async function planPacks(context: StoreContext, log: LogName): Promise<void> {
  const { ledger, clock } = context
  if (log.kind === 'thread') return
  for (const { tree } of ledger.sharing.packsToBuild(log)) {
    const newest = ledger.sharing.newestPack(log)
    const chain = await extendChain(context, { log, newest, tree })
    const id = makeId(clock.random)
    ledger.sharing.recordPack(log, { id, tree, parent: chain.parent })
    writeChain(context, log, { ...chain, pack: id })
  }
}

/**
 * The remote lacks a pack that one of these builds on: they are built again, the first one in full. If it lacks one that it had
 * confirmed, everything is sent again: `isAgain` says that building these again was not enough.
 */
export function rebuildPacks(
  { ledger, clock }: StoreContext,
  log: LogName,
  { packs, before, isAgain }: PreparedSegment & { readonly isAgain: boolean },
): void {
  ledger.sharing.retract(log)
  if (packs.length === 0 || isAgain) ledger.sharing.restart(log, before)
  let parent: string | null = null
  for (const { tree } of packs) {
    const id = makeId(clock.random)
    ledger.sharing.recordPack(log, { id, parent, tree })
    parent = id
  }
}

type Chain = {
  readonly parent: string | null
  /** The bytes of this pack and of those it builds on. */
  readonly chainBytes: number
  /** The bytes of a full pack, as last estimated: an estimate reads every folder. */
  readonly fullBytes: number
}

/** Another host, or one that lost its note, counts the chain so far as one full pack. */
async function extendChain(
  context: StoreContext,
  {
    log,
    newest,
    tree,
  }: {
    readonly log: LogName
    readonly newest: NewestPack | undefined
    readonly tree: ObjectId
  },
): Promise<Chain> {
  const { snapshots } = context
  if (newest !== undefined) {
    const base = parseObjectId(newest.tree)
    const added = await snapshots.estimatePack({ tree, base })
    const known = readChain(context, log, newest.id)
    const chainBytes = (known?.chainBytes ?? 0) + added
    if (known !== undefined && chainBytes <= MAX_CHAIN * known.fullBytes)
      return { parent: newest.id, chainBytes, fullBytes: known.fullBytes }
    const fullBytes = await snapshots.estimatePack({ tree, base: null })
    if (known === undefined) return { parent: newest.id, chainBytes: fullBytes + added, fullBytes }
    if (chainBytes <= MAX_CHAIN * fullBytes) return { parent: newest.id, chainBytes, fullBytes }
    return { parent: null, chainBytes: fullBytes, fullBytes }
  }
  const fullBytes = await snapshots.estimatePack({ tree, base: null })
  return { parent: null, chainBytes: fullBytes, fullBytes }
}

const noteOf = ({ id }: LogName) => `pack-chain:${id}`

function readChain(
  context: StoreContext,
  log: LogName,
  pack: string,
): Pick<Chain, 'chainBytes' | 'fullBytes'> | undefined {
  const note = readNote(context, noteOf(log))
  const [known, chainBytes, fullBytes] = note?.split(' ') ?? []
  return known === pack
    ? { chainBytes: Number(chainBytes), fullBytes: Number(fullBytes) }
    : undefined
}

function writeChain(
  context: StoreContext,
  log: LogName,
  { pack, chainBytes, fullBytes }: Chain & { readonly pack: string },
): void {
  const change = () => `${pack} ${chainBytes} ${fullBytes}`
  changeNote(context, { key: noteOf(log), mayBeLost: true, change })
}

/**
 * The packs of a segment for its commit. Large ones are on the remote afterwards. `missing-pack`: the remote lacks one that another
 * builds on.
 */
export async function sendPacks(
  context: StoreContext,
  remote: Remote,
  { packs, project }: Pick<PreparedSegment, 'packs'> & { readonly project: string | null },
): Promise<readonly CommitPack[] | 'missing-pack'> {
  let inlineBytes = 0
  const sent: CommitPack[] = []
  for (const pack of packs) {
    const { bytes, chunks } = await exportPack(context, pack)
    const { id, parent, tree } = pack
    const facts = { id, parent, tree, project }
    inlineBytes += bytes?.length ?? 0
    if (bytes !== undefined && inlineBytes <= MAX_INLINE_BYTES) sent.push({ ...facts, bytes })
    else {
      // A pack in the commit comes too late for one that is uploaded before and builds on it.
      const first = await uploadAll(remote, sent)
      if (first === 'missing-pack' || (await remote.putPack(facts, chunks)) === 'missing-pack')
        return 'missing-pack'
      sent.push(facts)
    }
  }
  return sent
}

async function uploadAll(remote: Remote, sent: CommitPack[]): Promise<'done' | 'missing-pack'> {
  for (const [index, { bytes, ...pack }] of sent.entries()) {
    if (bytes === undefined) continue
    if ((await remote.putPack(pack, [bytes])) === 'missing-pack') return 'missing-pack'
    sent[index] = pack
  }
  return 'done'
}

function exportPack({ snapshots, objects }: StoreContext, { tree, parentTree }: SharedPack) {
  const base = parentTree === null ? null : parseObjectId(parentTree)
  return objects.shared(() => snapshots.exportPack({ tree: parseObjectId(tree), base }))
}
