// Notes about the projects that each process watches, for `status` in other processes. Each is a small file, removed when
// the watch ends and ignored once its process is dead.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ProjectId } from '../../model/index.js'
import { type ProcessIdentity, writeFileAtomically } from '../../system/index.js'
import { UNWRITABLE_CODES } from './cookies.js'
import type { WatchReport } from './project-watch.js'
import {
  namesIn,
  parseJson,
  removeDeadWatches,
  type WatchFolder,
  watchOwners,
} from './watch-folder.js'

export type WatchNote = WatchReport & {
  readonly project: ProjectId
  readonly process: ProcessIdentity
}

const NOTE = /^[a-z]{18}$/

/** Pass undefined when the watch ends. False if the note could not be written. */
export function noteWatch(
  folder: WatchFolder,
  project: ProjectId,
  report: WatchReport | undefined,
): boolean {
  const path = join(folder.path, project)
  try {
    if (report === undefined) {
      rmSync(path, { force: true })
      return true
    }
    folder.ensure()
    writeFileAtomically({ path, content: JSON.stringify({ ...report, project }), durable: false })
    return true
  } catch (error) {
    // The note is only informative: a full disk must not fail a save.
    if (!hasCode(error, 'ENOENT', ...UNWRITABLE_CODES)) throw error
    return false
  }
}

/** The notes of processes that may be alive. Removes those of dead processes. */
export function readWatchNotes(home: string): WatchNote[] {
  removeDeadWatches(home)
  return watchOwners(home).flatMap(({ path, process: owner }) =>
    namesIn(join(home, path))
      .filter((name) => NOTE.test(name))
      .flatMap((name) => {
        const note = parseJson<Omit<WatchNote, 'process'>>(join(home, path, name))
        return note === undefined ? [] : { ...note, process: owner }
      }),
  )
}
