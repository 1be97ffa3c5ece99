// The folder in the store of one thread that watches, with its cookie and what it says of each project. Its name tells
// its process, so that what a killed one left can be removed on proof of its death: made in one step, it is never
// without an owner.
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
/** pid, start, machine, boot, the namespace of its pid if it has one, and letters of its own. */
const NAME = /^([0-9]+)-([0-9]+)-([0-9a-f]{8})-([0-9a-f]{8})(?:-n([0-9]+))?-[0-9a-f]{8}$/

export class WatchFolder {
  readonly #home: string
  readonly path: string

  constructor(home: string) {
    this.#home = home
    const { pid, startedAt, host, boot, namespace } = ownIdentity()
    const place = namespace === undefined ? [] : [`n${namespace}`]
    const letters = randomBytes(4).toString('hex')
    const name = [pid, startedAt, short(host), short(boot), ...place, letters].join('-')
    this.path = join(home, WATCHES, name)
  }

  /** The folder is there when it returns. Where it has to be made, the leftovers of others go first. */
  ensure(): void {
    if (existsSync(this.path)) return
    removeDead(this.#home)
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

export function removeDead(home: string): void {
  for (const { path, process: owner } of watchOwners(home))
    if (isSurelyDead(owner)) rmSync(join(home, path), { recursive: true, force: true })
}

export function namesIn(folder: string): string[] {
  return ifExists(() => readdirSync(folder)) ?? []
}

/** Undefined of what is gone or was never written: it is written whole. */
export function parseJson<T extends object>(path: string): T | undefined {
  const value = tryParseJson(ifExists(() => readFileSync(path, 'utf8'), 'EISDIR'))
  return typeof value === 'object' && value !== null ? (value as T) : undefined
}

function short(text: string): string {
  return hash('sha256', text).slice(0, 8)
}
