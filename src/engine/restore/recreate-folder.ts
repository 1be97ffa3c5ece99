// A rewind of a project whose folder is gone creates an empty folder first and plans into it.
import { mkdirSync, rmdirSync } from 'node:fs'
import { fsPath, hasCode, printablePath, type Project, SavestateError } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import { GONE, readRootInode } from './restore-journal.js'
import { projectFolder } from '../projects/project-state.js'
import type { RestoreResult } from './restore.js'

/**
 * A dry run does not create the folder and fails like every plan without one. The folder is removed again if the rewind
 * wrote nothing into it. Throws PROJECT_MISSING if the folder may be on a disk that is not mounted.
 */
export async function inExistingFolder(
  { context, project, dryRun, callbacks }: Rewinding,
  work: () => Promise<RestoreResult>,
): Promise<RestoreResult> {
  if (dryRun || readRootInode(project) !== GONE) return work()
  refuseUnreachable(context, project)
  mkdirSync(fsPath(project.path))
  callbacks.onWarning?.(`${printablePath(project.path)} no longer existed; it was created again.`)
  let isFilled = false
  try {
    const result = await work()
    isFilled = result.applied
    return result
  } finally {
    if (!isFilled) removeIfEmpty(project)
  }
}

type Rewinding = {
  readonly context: StoreContext
  readonly project: Project
  readonly dryRun: boolean
  readonly callbacks: Callbacks
}

function refuseUnreachable({ ledger }: StoreContext, { id, path }: Project): void {
  const summary = ledger.projects().find(({ project }) => project.id === id)
  const unreachable = summary === undefined ? null : projectFolder(path, summary).unreachable
  if (unreachable === null) return
  throw new SavestateError(
    'PROJECT_MISSING',
    `There is no folder ${printablePath(path)}, and ${unreachable}`,
    { hint: 'If the folder was removed, create it with mkdir, then run the command again.' },
  )
}

function removeIfEmpty({ path }: Project): void {
  try {
    rmdirSync(fsPath(path))
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error
  }
}
