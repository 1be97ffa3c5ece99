// The folder in the store of one thread that watches: `watches/<pid>-<letters>`, with its cookie and what it says of
// each project. It names its process, so that what a killed one left can be removed on proof of its death.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../model/index.js'
import {
  isSurelyDead,
  ownIdentity,
  type ProcessIdentity,
  writeFileAtomically,
} from '../../system/index.js'

const WATCHES = 'watches'
const OWNER = 'owner'
const NAME = /^[0-9]+-[0-9a-f]{8}$/

export class WatchFolder {
  readonly #home: string
  readonly path: string

  constructor(home: string) {
    this.#home = home
    this.path = join(home, WATCHES, `${process.pid}-${randomBytes(4).toString('hex')}`)
  }

  /** The folder is there when it returns. Where it has to be made, the leftovers of others go first. */
  ensure(): void {
    const owner = join(this.path, OWNER)
    if (existsSync(owner)) return
    removeDead(this.#home)
    mkdirSync(this.path, { recursive: true, mode: 0o700 })
    writeFileAtomically({ path: owner, content: JSON.stringify(ownIdentity()), durable: false })
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

export type WatchOwner = {
  /** Relative to the store. */
  readonly path: string
  /** Undefined if it does not say: made a moment ago, or left by one that was killed in that moment. */
  readonly process: ProcessIdentity | undefined
}

export function watchOwners(home: string): WatchOwner[] {
  return namesIn(join(home, WATCHES))
    .filter((name) => NAME.test(name))
    .map((name) => {
      const path = join(WATCHES, name)
      return { path, process: parseJson<ProcessIdentity>(join(home, path, OWNER)) }
    })
}

export function removeDead(home: string): void {
  for (const { path, process: owner } of watchOwners(home))
    if (owner !== undefined && isSurelyDead(owner))
      rmSync(join(home, path), { recursive: true, force: true })
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

/** Undefined of what is gone or was never written: it is written whole. */
export function parseJson<T extends object>(path: string): T | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR'))
      return undefined
    throw error
  }
}
