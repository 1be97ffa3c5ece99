// What a small save writes is safe once it stands in the log of its project, with a single flush. The files themselves
// get their places without one, and are flushed later, many at a time (docs/store.md#unflushed).
import {
  chmodSync,
  closeSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasCode, type ProjectId } from '../../model/index.js'
import { failpoint, ownIdentity, syncFolder, writeAll } from '../../system/index.js'
import { type LoggedFile, logHeader, logRecord, parseLog } from './log-file.js'
import { replayLog, settleLog, unflushedFolder } from './settle.js'

const flushData = promisify(fdatasync)

/** A save that writes more is better flushed at its place: it would be written twice. */
export const MAX_LOGGED_BYTES = 256 << 10
/** So much is flushed at its places at once, and replayed at most. */
const FULL_BYTES = 1 << 20

type OpenLog = { readonly fd: number; readonly ino: number; size: number }

/** Whoever appends holds the project's lock, and the objects' lock with others. */
export class ObjectLog {
  readonly #home: string
  readonly #path: string
  #open: OpenLog | undefined
  #settling: Promise<void> | undefined

  constructor(home: string, project: ProjectId) {
    this.#home = home
    this.#path = join(unflushedFolder(home), project)
  }

  /** Afterwards the files survive a power cut, wherever they are. */
  async append(files: readonly LoggedFile[]): Promise<void> {
    if (this.#open !== undefined && !this.#isStill(this.#open)) this.#letGo()
    this.#open ??= this.#openLog()
    // Only now: the files of the last save have their places.
    if (this.#open.size > FULL_BYTES) await this.#turnOver()
    const log = (this.#open ??= this.#openLog())
    const record = logRecord(files)
    try {
      writeAll(log.fd, record)
      await flushData(log.fd)
    } catch (error) {
      // Perhaps half of it is there: the next one looks where to begin.
      this.#letGo()
      throw error
    }
    log.size += record.length
    failpoint('log:written')
  }

  /** Nothing of the project is in a log afterwards. */
  async clear(): Promise<void> {
    await this.close()
    await settleLog(this.#home, `${this.#path}.full`)
    await settleLog(this.#home, this.#path)
  }

  /** What is being flushed is flushed; the rest may wait for anybody. */
  async close(): Promise<void> {
    this.#letGo()
    await this.#settled()
  }

  #letGo(): void {
    if (this.#open !== undefined) closeSync(this.#open.fd)
    this.#open = undefined
  }

  /** Not when another process has added to it, been killed at that, turned it over, or removed it. */
  #isStill({ fd, ino, size }: OpenLog): boolean {
    return (
      fstatSync(fd).size === size && statSync(this.#path, { throwIfNoEntry: false })?.ino === ino
    )
  }

  #openLog(): OpenLog {
    const fd = this.#openFile()
    try {
      const content = parseLog(readFileSync(this.#path))
      if (content.boot === ownIdentity().boot) ftruncateSync(fd, content.end)
      else this.#begin(fd)
      const { ino, size } = fstatSync(fd)
      return { fd, ino, size }
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  #openFile(): number {
    const folder = unflushedFolder(this.#home)
    try {
      return openSync(this.#path, 'a', 0o600)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
    mkdirSync(folder, { mode: 0o700, recursive: true })
    chmodSync(folder, 0o700)
    syncFolder(this.#home)
    return openSync(this.#path, 'a', 0o600)
  }

  /** A new log, or one that says nothing of use. */
  #begin(fd: number): void {
    replayLog(this.#home, this.#path)
    ftruncateSync(fd, 0)
    writeAll(fd, logHeader())
    fsyncSync(fd)
    syncFolder(unflushedFolder(this.#home))
  }

  /** A new log is begun, and the files of this one are flushed meanwhile. */
  async #turnOver(): Promise<void> {
    await this.#settled()
    const full = `${this.#path}.full`
    // Left by a process that was killed at this.
    await settleLog(this.#home, full)
    this.#letGo()
    renameSync(this.#path, full)
    this.#settling = settleLog(this.#home, full)
    // Told by whoever waits for it next; until then its files are safe in the log.
    this.#settling.catch(() => undefined)
  }

  /** Throws what the last one met, once: another try may do better. */
  async #settled(): Promise<void> {
    const settling = this.#settling
    this.#settling = undefined
    await settling
  }
}
