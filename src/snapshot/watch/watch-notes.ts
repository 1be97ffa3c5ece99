// What each process says of the projects it watches, for `status` in any other: a small file for each, which goes
// with the watch, and is not believed once its process is dead.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ProjectId } from '../../model/index.js'
import { type ProcessIdentity, writeFileAtomically } from '../../system/index.js'
import { NO_PLACE } from './cookies.js'
import type { WatchReport } from './project-watch.js'
import { namesIn, parseJson, removeDead, type WatchFolder, watchOwners } from './watch-folder.js'

export type WatchNote = WatchReport & {
  readonly project: ProjectId
  readonly process: ProcessIdentity
}

const NOTE = /^[a-z]{18}$/

/** Undefined: the watch is over. False if it could not be written. */
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
    // For people only: a full disk must not keep a save from being made.
    if (!hasCode(error, 'ENOENT', ...NO_PLACE)) throw error
    return false
  }
}

/** Of processes that may be alive; what the dead left is removed. */
export function readWatchNotes(home: string): WatchNote[] {
  removeDead(home)
  return watchOwners(home).flatMap(({ path, process: owner }) =>
    namesIn(join(home, path))
      .filter((name) => NOTE.test(name))
      .flatMap((name) => {
        const note = parseJson<Omit<WatchNote, 'process'>>(join(home, path, name))
        return note === undefined ? [] : { ...note, process: owner }
      }),
  )
}
