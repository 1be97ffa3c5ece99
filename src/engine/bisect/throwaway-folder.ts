// The folder that the command of a bisect runs in: below the folder for temporary files, never in the project. Not in the store, where a
// prune would take it for the rest of a killed process, and `verify` would check it.
import { lstatSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import {
  type BytePath,
  bytePath,
  fsPath,
  isInside,
  joinPath,
  nameOf,
  type Project,
  SavestateError,
} from '../../model/index.js'
import { removeFolder } from '../attempts/destination.js'

const PREFIX = 'savestate-bisect-'

export class ThrowawayFolder {
  /** For `removeThrowaway`, if this process is killed. */
  readonly top: string
  /** Has the name of the project, which some programs show or check. The same for each run, so that programs may cache by path. */
  readonly path: BytePath

  constructor(project: Project) {
    const temporary = realpathSync.native(tmpdir())
    if (isInside(bytePath(temporary), project.path))
      throw new SavestateError('BAD_INPUT', 'The folder for temporary files is in the project', {
        hint: 'Set TMPDIR to a folder outside of the project.',
      })
    this.top = mkdtempSync(join(temporary, PREFIX))
    this.path = joinPath(bytePath(this.top), nameOf(project.path))
  }

  /** Makes the folder empty. */
  renew(): void {
    removeFolder(fsPath(this.path))
    mkdirSync(fsPath(this.path))
  }
}

/** Removes such a folder. Leaves every other path alone, whatever a damaged note says. */
export function removeThrowaway(top: string): void {
  const isOurs = basename(top).startsWith(PREFIX) && dirname(top) === realpathSync.native(tmpdir())
  const stats = isOurs ? lstatSync(top, { throwIfNoEntry: false }) : undefined
  if (stats?.isDirectory() === true && stats.uid === process.getuid?.()) removeFolder(top)
}
