// Takes back the last rewind, or does it again. Only the paths that rewind changed are touched: work done
// since on other files stays.
import * as z from 'zod/mini'
import {
  type BytePath,
  invariant,
  type Operation,
  type Project,
  SavestateError,
  undoStack,
} from '../model/index.js'
import { knownProject, type ProjectContext, withProjectLock } from './context.js'
import type { Hooks } from './hooks.js'
import { projectOperation } from './operation.js'
import { recover } from './recover.js'
import { type RestoreResult, restore } from './restore.js'

const input = z.object({ dryRun: z._default(z.boolean(), false) })

export const undo = projectOperation({
  name: 'undo',
  summary: 'Take back the last rewind',
  effect: 'changes-files',
  input,
  run: (context, { dryRun }, hooks) => move(context, { kind: 'undo', dryRun, hooks }),
})

export const redo = projectOperation({
  name: 'redo',
  summary: 'Do the last undone rewind again',
  effect: 'changes-files',
  input,
  run: (context, { dryRun }, hooks) => move(context, { kind: 'redo', dryRun, hooks }),
})

type Move = { readonly kind: 'undo' | 'redo'; readonly dryRun: boolean; readonly hooks: Hooks }

async function move(
  context: ProjectContext,
  { kind, dryRun, hooks }: Move,
): Promise<RestoreResult> {
  const project = knownProject(context)
  if (project === undefined) throw nothingTo(kind)
  return withProjectLock(context, project, {
    purpose: kind,
    work: async () => {
      await recover(context, project, hooks)
      const rewind = undoStack(context.ledger.operations(project.id))[kind]
      if (rewind === undefined) throw nothingTo(kind)
      const goal = kind === 'undo' ? rewind.safety : rewind.result
      const target = context.ledger.checkpoint(goal)
      invariant(target !== undefined, 'an operation keeps its checkpoints')
      return restore(context, project, {
        request: {
          kind,
          of: rewind.id,
          target: goal,
          goal: target.snapshot.tree,
          skippedThen: context.ledger.details(goal)?.skippedPaths ?? [],
          paths: undefined,
          only: await changedBy(context, project, rewind),
          reason: `${kind} of ${context.ledger.checkpoint(rewind.result)?.reason ?? 'a rewind'}`,
          dryRun,
        },
        hooks,
      })
    },
  })
}

async function changedBy(
  { ledger, snapshots }: ProjectContext,
  project: Project,
  { safety, result }: Operation,
): Promise<BytePath[]> {
  const [before, after] = [ledger.checkpoint(safety), ledger.checkpoint(result)]
  invariant(
    before?.project === project.id && after !== undefined,
    'an operation keeps its checkpoints',
  )
  const changes = await snapshots.compare(before.snapshot.tree, after.snapshot.tree, {
    countLines: false,
  })
  return changes.map(({ path }) => path)
}

function nothingTo(kind: 'undo' | 'redo'): SavestateError {
  return kind === 'undo'
    ? new SavestateError('NOTHING_TO_UNDO', 'There is no rewind to undo', {
        hint: '`savestate rewind <ref>` goes back to a checkpoint; undo takes that back.',
      })
    : new SavestateError('NOTHING_TO_REDO', 'There is no undone rewind to do again')
}
