// The files of checkpoints on their way to a remote: each one needs the objects that the pack before it does not have.
import { INLINE_PACK_BYTES, type LogName, makeId, type ObjectId } from '../../model/index.js'
import type { PreparedSegment, SharedPack } from '../../ledger/index.js'
import type { CommitPack, Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'

/** What one commit carries itself; larger packs, and more of them, are uploaded before it. */
const MAX_INLINE_BYTES = 4 * INLINE_PACK_BYTES
/** A chain of packs may have so many times the bytes of one pack with everything. */
const MAX_CHAIN = 2

/** Decides of each checkpoint without a pack which one it builds on. Nothing is read or sent yet. */
export async function planPacks(context: StoreContext, log: LogName): Promise<void> {
  const { ledger, snapshots, clock } = context
  if (log.kind === 'thread' || !ledger.sharing.lacksPacks(log)) return
  const work = ledger.transactionNoSync(() => ledger.sharing.packsToBuild(log))
  for (const { tree } of work) {
    const newest = ledger.sharing.newestPack(log)
    const chain = await extendChain({ snapshots }, newest, tree)
    const id = makeId(clock.random)
    ledger.transactionNoSync(() => ledger.sharing.recordPack(log, { id, tree, ...chain }))
  }
}

type Chain = {
  readonly parent: string | null
  /** Of this pack and those it builds on. */
  readonly chainBytes: number
  /** Of a pack with everything, as last estimated: that takes a look at every folder. */
  readonly fullBytes: number
}

async function extendChain(
  { snapshots }: Pick<StoreContext, 'snapshots'>,
  newest: ReturnType<StoreContext['ledger']['sharing']['newestPack']>,
  tree: ObjectId,
): Promise<Chain> {
  if (newest !== undefined) {
    const added = await snapshots.estimatePack({ tree, base: newest.tree })
    const { id: parent, fullBytes } = newest
    const chainBytes = newest.chainBytes + added
    if (chainBytes <= MAX_CHAIN * fullBytes) return { parent, chainBytes, fullBytes }
    const nowBytes = await snapshots.estimatePack({ tree, base: null })
    if (chainBytes <= MAX_CHAIN * nowBytes) return { parent, chainBytes, fullBytes: nowBytes }
    return { parent: null, chainBytes: nowBytes, fullBytes: nowBytes }
  }
  const fullBytes = await snapshots.estimatePack({ tree, base: null })
  return { parent: null, chainBytes: fullBytes, fullBytes }
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
  return objects.shared(() => snapshots.exportPack({ tree, base: parentTree }))
}
