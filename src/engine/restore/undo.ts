// Undoes the last rewind, or redoes it. Changes only the paths that the rewind changed: later work on other files stays.
import * as z from 'zod/mini'
import {
  type BytePath,
  hasFiles,
  invariant,
  type Operation,
  parentOf,
  ROOT,
  SavestateError,
  undoStack,
} from '../../model/index.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import type { Callbacks, RestoreSubject } from '../operation/callbacks.js'
import { projectOperation } from '../operation/operation.js'
import { type RestoreResult, restore } from './restore.js'
import { readLeftOut, viewTarget } from './rewind-target.js'
import { type UndoSession, undoSession } from './undo-session.js'
import { retryUntilConfirmed } from '../operation/confirm-unlocked.js'

const input = () => z.strictObject({ dryRun: z._default(z.boolean(), false) })

export const undo = projectOperation({
  name: 'undo',
  summary: 'Undo the last rewind',
  effect: 'changes-files',
  input,
  run: (context, { dryRun }, callbacks) =>
    runUndoOrRedo(context, { kind: 'undo', dryRun, callbacks }),
})

export const redo = projectOperation({
  name: 'redo',
  summary: 'Redo the last undone rewind',
  effect: 'changes-files',
  input,
  run: (context, { dryRun }, callbacks) =>
    runUndoOrRedo(context, { kind: 'redo', dryRun, callbacks }),
})

type UndoRequest = {
  readonly kind: 'undo' | 'redo'
  readonly dryRun: boolean
  readonly callbacks: Callbacks
}

async function runUndoOrRedo(
  context: ProjectContext,
  { kind, dryRun, callbacks }: UndoRequest,
): Promise<RestoreResult> {
  const project = findKnownProject(context)
  if (project === undefined) throw nothingToError(kind)
  return retryUntilConfirmed(context, project, {
    purpose: kind,
    callbacks,
    attempt: async (agreed) => {
      const rewind = undoStack(context.ledger.operations(project.id))[kind]
      if (rewind === undefined)
        throw nothingToError(kind, context.ledger.pruning.hasLostUndo(project.id))
      const goal = kind === 'undo' ? rewind.safety : rewind.result
      const target = context.ledger.checkpoints.get(goal)
      invariant(target !== undefined && hasFiles(target), 'an operation keeps its checkpoints')
      const session = undoSession(context, rewind, kind)
      const bystanders = context.ledger.checkpoints.details(rewind.result)?.rewind?.bystanders
      const result = await restore(context, project, {
        request: {
          kind,
          of: rewind.id,
          target: goal,
          goal: target.snapshot.tree,
          // A rewind of an older version recorded no bystanders: a path may differ only because the rules did.
          leftOut: bystanders === undefined ? readLeftOut(context.ledger, goal) : undefined,
          ownersThen: context.ledger.checkpoints.details(goal)?.owners,
          paths: undefined,
          only: await pathsChangedBy(context, rewind, bystanders),
          reason: `${kind} of ${context.ledger.checkpoints.get(rewind.result)?.reason ?? 'a rewind'}`,
          dryRun,
          subject: describeSubject(context, rewind),
          session: session?.part,
          movesState: session?.movesState === true,
          notice: session === undefined ? undefined : describeLeft(session),
        },
        callbacks,
        agreed,
      })
      if ('isQuestion' in result) return result
      if (session?.movesState !== true || !(result.applied || dryRun)) return result
      const { part, left } = session
      return { ...result, session: part.id, ...(left === undefined ? {} : { left }) }
    },
  })
}

function describeSubject({ ledger }: ProjectContext, { result, atMs }: Operation): RestoreSubject {
  const note = ledger.checkpoints.details(result)?.rewind
  const target = note === undefined ? undefined : ledger.checkpoints.get(note.target)
  return {
    to: target === undefined ? null : viewTarget(ledger, target),
    rewoundAt: new Date(atMs),
    ...(note?.conversation === undefined ? {} : { conversation: note.conversation }),
  }
}

/** Nothing is lost, but the session has another state afterwards. */
function describeLeft({ part, left }: UndoSession): string | undefined {
  if (left === undefined) return undefined
  return `The session ${JSON.stringify(part.id)} has continued since. Its state changes too; what it has saved is kept, most recently in checkpoint ${left}.`
}

async function pathsChangedBy(
  { ledger, snapshots }: ProjectContext,
  { safety, result, project }: Operation,
  bystanders: readonly BytePath[] = [],
): Promise<BytePath[]> {
  const [before, after] = [ledger.checkpoints.get(safety), ledger.checkpoints.get(result)]
  invariant(
    before?.project === project && hasFiles(before) && after !== undefined && hasFiles(after),
    'an operation keeps its checkpoints',
  )
  const changes = await snapshots.compare(before.snapshot.tree, after.snapshot.tree, {
    countLines: false,
  })
  const left = new Set(bystanders)
  return changes.map(({ path }) => path).filter((path) => !isInAny(path, left))
}

function isInAny(path: BytePath, folders: ReadonlySet<BytePath>): boolean {
  for (let at = path; at !== ROOT; at = parentOf(at)) if (folders.has(at)) return true
  return false
}

function nothingToError(kind: 'undo' | 'redo', isForgotten = false): SavestateError {
  return kind === 'undo'
    ? new SavestateError('NOTHING_TO_UNDO', 'There is no rewind to undo', {
        hint: isForgotten
          ? 'An earlier rewind can no longer be undone: a prune or `savestate drop` removed the checkpoints for it.'
          : '`savestate rewind <ref>` goes back to a checkpoint; undo reverts that.',
      })
    : new SavestateError('NOTHING_TO_REDO', 'There is no undone rewind to redo')
}
