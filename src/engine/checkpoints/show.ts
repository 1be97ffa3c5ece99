// Shows one checkpoint in full: its contents, the skipped paths with reasons, the changes since the previous one, and the
// agent's part of it.
import * as z from 'zod/mini'
import type { Ledger } from '../../ledger/index.js'
import {
  type BytePath,
  type Checkpoint,
  hasFiles,
  invariant,
  pathText,
  SavestateError,
  type StateId,
} from '../../model/index.js'
import { findKnownProject, type StoreContext } from '../operation/context.js'
import { readDamage } from '../verify/damage-marks.js'
import { projectOperation, sessionOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { bringNamedFiles, withFilesHere } from './files-here.js'
import { resolve, resolveInSession } from './resolve-ref.js'
import {
  type AgentDetails,
  type CheckpointDetails,
  type StateSummary,
  viewChange,
  viewCheckpoint,
} from './views.js'

export const show = projectOperation({
  name: 'show',
  summary: 'Show one checkpoint in full',
  effect: 'reads',
  input: () => z.strictObject({ ref: z.string() }),
  async run(context, { ref }, callbacks): Promise<CheckpointDetails> {
    await recoverIfNeeded(context, callbacks)
    await bringNamedFiles(context, [ref])
    return context.objects.shared(async () =>
      readDetails(context, resolve(context.ledger, findKnownProject(context), ref)),
    )
  },
})

export const showInSession = sessionOperation({
  name: 'show',
  summary: 'Show one checkpoint of a session in full',
  effect: 'reads',
  input: () => z.strictObject({ ref: z.string() }),
  async run(context, { ref }): Promise<CheckpointDetails> {
    const named = resolveInSession(context, context.lease.key, ref)
    // A session without a folder here has no place for files.
    if (context.project !== undefined) await withFilesHere(context, named)
    return context.objects.shared(async () =>
      readDetails(context, resolveInSession(context, context.lease.key, ref)),
    )
  },
})

/** The caller holds the objects lock shared: a prune must not remove objects while they are compared. */
async function readDetails(
  context: StoreContext,
  checkpoint: Checkpoint,
): Promise<CheckpointDetails> {
  const { snapshot, commit } = checkpoint
  const details = context.ledger.checkpoints.details(checkpoint.id)
  return {
    ...viewCheckpoint(checkpoint),
    fileCount: snapshot?.fileCount ?? 0,
    sizeBytes: snapshot?.sizeBytes ?? 0,
    tree: snapshot?.tree ?? null,
    commit,
    agent: agentDetails(context, checkpoint),
    ...(await readRefAndChanges(context, checkpoint)),
    skippedPaths: withPathText(details?.skippedPaths),
    repositories: withPathText(details?.repositories),
    uncaptured: withPathText(details?.uncaptured?.changes),
  }
}

async function readRefAndChanges(
  { ledger, snapshots }: StoreContext,
  checkpoint: Checkpoint,
): Promise<Pick<CheckpointDetails, 'ref' | 'changes'>> {
  if (!hasFiles(checkpoint)) return { ref: null, changes: [] }
  const project = ledger.project(checkpoint.project)
  invariant(project !== undefined, 'a checkpoint with files has a project')
  const ref = snapshots.refOf(project, checkpoint.id)
  const before = ledger.checkpoints.filesBefore(checkpoint)
  // The changes of a damaged checkpoint are unknown; everything else can be shown.
  const isDamaged = [checkpoint, before].some(
    (each) => each !== undefined && readDamage(ledger, each.id) !== undefined,
  )
  if (isDamaged) return { ref, changes: [] }
  const tree = checkpoint.snapshot.tree
  const changes = await snapshots.compare(before?.snapshot.tree, tree, { countLines: true })
  return { ref, changes: changes.map(viewChange) }
}

function withPathText<Item extends { readonly path: BytePath }>(
  items: readonly Item[] = [],
): (Omit<Item, 'path'> & { readonly path: string })[] {
  return items.map((item) => ({ ...item, path: pathText(item.path) }))
}

const MAX_TOOLS = 50

function agentDetails({ ledger }: StoreContext, { session }: Checkpoint): AgentDetails | null {
  if (session === null) return null
  const tools = ledger.tools.outlines(session.key, { upToStep: session.step, limit: MAX_TOOLS })
  const usage = ledger.checkpoints.usageOfTurn(session)
  return {
    parent: session.parent,
    turn: session.turn,
    toolCall: session.toolCall,
    schemaVersion: session.schemaVersion,
    metadata: session.metadata ?? null,
    state: session.state === null ? null : summarizeState(ledger, session.state),
    tokens: usage?.tokens ?? null,
    costUsd: usage?.costUsd ?? null,
    tools: tools.map(({ id, name, status, idempotencyKey, step, startedAtMs }) => ({
      id,
      name,
      status,
      idempotencyKey,
      step,
      startedAt: new Date(startedAtMs),
    })),
  }
}

/** Without the key only the state stays hidden; the rest of the checkpoint can be shown. */
function summarizeState({ states }: Ledger, state: StateId): StateSummary {
  try {
    return states.summary(state)
  } catch (error) {
    const code = error instanceof SavestateError ? error.code : undefined
    if (code !== 'KEY_MISSING' && code !== 'KEY_WRONG') throw error
    return { kind: 'encrypted', length: null, keys: [] }
  }
}
