// What each process says of the projects it watches, for `status` in any other: a small file for each, which goes
// with the watch, and is not believed once its process is dead.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ProjectId } from '../../model/index.js'
import {
  isSurelyDead,
  ownIdentity,
  type ProcessIdentity,
  writeFileAtomically,
} from '../../system/index.js'
import type { WatchReport } from './project-watch.js'

export type WatchNote = WatchReport & {
  readonly project: ProjectId
  readonly process: ProcessIdentity
}

export class WatchNotes {
  readonly #folder: string

  constructor(home: string) {
    this.#folder = join(home, 'watches')
  }

  /** Undefined: the watch is over. */
  tell(project: ProjectId, report: WatchReport | undefined): void {
    const path = this.#pathOf(project)
    if (report === undefined) {
      rmSync(path, { force: true })
      return
    }
    const note: WatchNote = { ...report, project, process: ownIdentity() }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    try {
      writeFileAtomically({ path, content: JSON.stringify(note), durable: false })
    } catch (error) {
      // For people only: a full disk must not keep a save from being made.
      if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error
    }
  }

  /** Of processes that may be alive; what the dead left is removed. */
  read(): WatchNote[] {
    return listIfThere(this.#folder).flatMap((name) => {
      const path = join(this.#folder, name)
      const note = parseNote(path)
      if (note !== undefined && !isSurelyDead(note.process)) return note
      rmSync(path, { force: true })
      return []
    })
  }

  #pathOf(project: ProjectId): string {
    return join(this.#folder, `${project}-${process.pid}`)
  }
}

function listIfThere(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^[a-z]+-[0-9]+$/.test(name))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

/** Undefined for what is gone, or no note: it is written whole, so that is nobody's. */
function parseNote(path: string): WatchNote | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as WatchNote
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
