// The texts of a checkpoint that a search finds.
import { isRecord } from '../../base/index.js'
import type { IndexedCheckpoint } from '../../ledger/index.js'
import { type Checkpoint, hasFiles, pathText } from '../../model/index.js'
import type { ProjectContext, StoreContext } from '../operation/context.js'
import { storeSettings } from '../store/settings.js'
import { type SaidText, conversationTexts } from './conversation-texts.js'

export type CheckpointText =
  | SaidText
  | { readonly where: 'name' | 'reason' | 'path'; readonly text: string }

/** False for an encrypted store, unless the user has allowed the index and the key is here. */
export function mayReadConversations({ home, ledger }: StoreContext): boolean {
  return !ledger.isEncrypted || storeSettings(home).config.searchIndex
}

/** All texts of a checkpoint that a search finds. */
export function textsOf(
  context: StoreContext,
  checkpoint: Checkpoint,
  { elements, changes }: Pick<IndexedCheckpoint, 'elements' | 'changes'>,
): readonly CheckpointText[] {
  const { name, reason, session } = checkpoint
  const metadata = mayReadConversations(context) ? session?.metadata : null
  const prompt = isRecord(metadata) ? metadata['prompt'] : null
  const state = session?.state ?? null
  const said =
    state === null || elements.length === 0
      ? []
      : context.ledger.search.values(state, elements).flatMap(conversationTexts)
  return [
    ...(name === null ? [] : [{ where: 'name', text: name } as const]),
    ...(reason === null ? [] : [{ where: 'reason', text: reason } as const]),
    ...(typeof prompt === 'string' ? [{ where: 'prompt', text: prompt } as const] : []),
    ...said,
    ...changes.map(([path]) => ({ where: 'path', text: path }) as const),
  ]
}

/** Empty if one of the snapshots is damaged: it cannot be compared. */
export async function changesOf(
  { ledger, snapshots }: ProjectContext,
  checkpoint: Checkpoint,
  damaged: ReadonlyMap<string, unknown>,
): Promise<IndexedCheckpoint['changes']> {
  if (!hasFiles(checkpoint) || damaged.has(checkpoint.id)) return []
  const before = ledger.checkpoints.filesBefore(checkpoint)
  if (before !== undefined && damaged.has(before.id)) return []
  const { tree } = checkpoint.snapshot
  if (before?.snapshot.tree === tree) return []
  const changes = await snapshots.compare(before?.snapshot.tree, tree, { countLines: false })
  return changes.map(({ path, after }) => [
    pathText(path),
    after?.type === 'file' ? after.blob : null,
  ])
}
