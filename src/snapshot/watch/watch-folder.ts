// The folder in the store for one thread's watches: its cookie and a note per project, which `status` reads in other
// processes. Its name identifies the process, so that others can ignore and remove it once the process is dead. It is
// created in one step, so it always has an owner.
import { hash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ifExists, isRecord, tryParseJson } from '../../base/index.js'
import type { ProjectId } from '../../model/index.js'
import {
  isSurelyDead,
  makeFolderIn,
  ownIdentity,
  type ProcessIdentity,
  writeFileAtomically,
} from '../../system/index.js'
import { isWritable } from './event-queue.js'
import type { WatchReport } from './project-watch.js'

const WATCHES = 'watches'
/** pid, start time, machine, boot, the pid namespace if it has one, and random letters. */
const NAME = /^([0-9]+)-([0-9]+)-([0-9a-f]{8})-([0-9a-f]{8})(?:-n([0-9]+))?-[0-9a-f]{8}$/

export class WatchFolder {
  readonly #home: string
  readonly path: string

  constructor(home: string) {
    this.#home = home
    const { pid, startedAt, host, boot, namespace } = ownIdentity()
    const inNamespace = namespace === undefined ? [] : [`n${namespace}`]
    const letters = randomBytes(4).toString('hex')
    const name = [pid, startedAt, short(host), short(boot), ...inNamespace, letters].join('-')
    this.path = join(home, WATCHES, name)
  }

  /** Creates the folder if it is missing, after removing those of dead processes. */
  ensure(): void {
    if (existsSync(this.path)) return
    removeDeadWatches(this.#home)
    makeFolderIn(this.#home, WATCHES, basename(this.path))
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

type WatchOwner = {
  /** Relative to the store. */
  readonly path: string
  readonly process: ProcessIdentity
}

export function watchOwners(home: string): WatchOwner[] {
  const here = ownIdentity()
  return namesIn(join(home, WATCHES)).flatMap((name) => {
    const [, pid, startedAt, host, boot, namespace] = NAME.exec(name) ?? []
    if (pid === undefined || startedAt === undefined) return []
    const owner: ProcessIdentity = {
      pid: Number(pid),
      startedAt,
      host: host === short(here.host) ? here.host : `another (${host})`,
      boot: boot === short(here.boot) ? here.boot : `another (${boot})`,
      ...(namespace === undefined ? {} : { namespace }),
    }
    return { path: join(WATCHES, name), process: owner }
  })
}

function removeDeadWatches(home: string): void {
  for (const { path, process: owner } of watchOwners(home))
    if (isSurelyDead(owner)) rmSync(join(home, path), { recursive: true, force: true })
}

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
  // The note is only informative: a full disk must not fail a save.
  return isWritable(() => {
    if (report === undefined) return rmSync(path, { force: true })
    folder.ensure()
    writeFileAtomically({ path, content: JSON.stringify({ ...report, project }), durable: false })
  })
}

/** The notes of processes that may be alive. Removes those of dead processes. */
export function readWatchNotes(home: string): WatchNote[] {
  removeDeadWatches(home)
  return watchOwners(home).flatMap(({ path, process: owner }) =>
    namesIn(join(home, path))
      .filter((name) => NOTE.test(name))
      .flatMap((name) => {
        const note = tryParseJson(
          ifExists(() => readFileSync(join(home, path, name), 'utf8'), 'EISDIR'),
        )
        return isRecord(note) ? { ...(note as Omit<WatchNote, 'process'>), process: owner } : []
      }),
  )
}

function namesIn(folder: string): string[] {
  return ifExists(() => readdirSync(folder)) ?? []
}

function short(text: string): string {
  return hash('sha256', text).slice(0, 8)
}
