// Moves the history of a folder to the folder's new path. A project is identified by its path, so this changes one row.
import * as z from 'zod/mini'
import {
  bytePath,
  type BytePath,
  pathText,
  printablePath,
  type Project,
  SavestateError,
} from '../../model/index.js'
import { refuseUnsafeFolder } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { type StoreContext, withProjectLock } from '../operation/context.js'
import { pendingJournals } from '../restore/restore-journal.js'
import { storeOperation } from '../operation/operation.js'
import { isExistingFolder, resolveFolder, resolveMissingFolder } from './locate-project.js'
import { readParentIdentity } from './project-state.js'

export type MoveResult = {
  readonly from: string
  readonly to: string
  readonly checkpoints: number
}

export const moveProject = storeOperation({
  name: 'move',
  summary: 'Move the history of a folder to its new path',
  effect: 'changes-store',
  input: () => z.strictObject({ from: z.string(), to: z.string() }),
  async run(context, input): Promise<MoveResult> {
    const to = resolveFolder(input.to)
    refuseUnsafeFolder(to, bytePath(context.home))
    const from = findMissingProject(context, input.from)
    return withProjectLock(context, from, {
      purpose: 'move',
      work: async () => {
        refuseUnfinished(context, from)
        const { ledger } = context
        const checkpoints = ledger.checkpoints.count({ project: from.id })
        failpoint('move:before-row')
        ledger.transaction(() => {
          const there = ledger.projectAt(to)
          if (there !== undefined && !ledger.pruning.forgetProject(there.id))
            throw pathInUseError(to)
          ledger.projectRecords.move(from.id, { path: to, ...readParentIdentity(to) })
        })
        failpoint('move:after-row')
        return { from: pathText(from.path), to: pathText(to), checkpoints }
      },
    })
  },
})

/** Finds the project of a path at which there is no folder any more. */
function findMissingProject(context: StoreContext, text: string): Project {
  const shown = JSON.stringify(text)
  if (isExistingFolder(text))
    throw new SavestateError('BAD_INPUT', `The folder ${shown} still exists`, {
      hint: 'Only the history of a folder that no longer exists can be moved. Nothing was changed.',
    })
  const missing = resolveMissingFolder(text)
  const known = missing === undefined ? undefined : context.ledger.projectAt(missing)
  if (known !== undefined) return known
  throw new SavestateError('BAD_INPUT', `The store has no checkpoints of ${shown}`, {
    hint: '`savestate status` lists the projects. Nothing was changed.',
  })
}

function refuseUnfinished({ home }: StoreContext, project: Project): void {
  if (!pendingJournals(home).includes(project.id)) return
  throw new SavestateError(
    'BAD_INPUT',
    `A rewind of ${printablePath(project.path)} was interrupted and is not finished`,
    {
      hint: 'Move the folder back, run `savestate list` in it, and move it again. Nothing was changed.',
    },
  )
}

function pathInUseError(path: BytePath): SavestateError {
  return new SavestateError('BAD_INPUT', `${printablePath(path)} has checkpoints of its own`, {
    hint: 'Two histories cannot be joined. `savestate clear` removes this one. Nothing was changed.',
  })
}
