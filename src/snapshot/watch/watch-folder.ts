// The folder in the store for one thread's watches: its cookie and a note per project. Its name identifies the process, so
// that others can remove it once the process is dead. It is created in one step, so it always has an owner.
import { hash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ifExists, tryParseJson } from '../../base/index.js'
import {
  isSurelyDead,
  makeFolderIn,
  ownIdentity,
  type ProcessIdentity,
} from '../../system/index.js'

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

export type WatchOwner = {
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

export function removeDeadWatches(home: string): void {
  for (const { path, process: owner } of watchOwners(home))
    if (isSurelyDead(owner)) rmSync(join(home, path), { recursive: true, force: true })
}

export function namesIn(folder: string): string[] {
  return ifExists(() => readdirSync(folder)) ?? []
}

/** Undefined if the file is missing or no JSON object. */
export function parseJson<T extends object>(path: string): T | undefined {
  const value = tryParseJson(ifExists(() => readFileSync(path, 'utf8'), 'EISDIR'))
  return typeof value === 'object' && value !== null ? (value as T) : undefined
}

function short(text: string): string {
  return hash('sha256', text).slice(0, 8)
}
