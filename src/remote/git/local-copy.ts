// The driver's own copy of the remote: a bare repository in the store. Its refs are what the server had when it was last asked. One
// process at a time changes it; its objects stay for a day after the last ref to them, so that readers need no lock.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { SavestateError } from '../../model/index.js'
import { type Lock, takeLock } from '../../system/index.js'
import { explainFailure, rejected, unreachable } from './git-errors.js'
import { askServer, type GitRun, runGit } from './git-process.js'
import type { GitTarget } from './git-url.js'

export type ObjectId = string

/** An entry of a tree with the size of its blob. */
export type StoredBlob = { readonly id: ObjectId; readonly bytes: number }

export type RefValue = {
  readonly commit: ObjectId
  /** Null: the ref is to something else than a commit. */
  readonly tree: ObjectId | null
}

export type RefUpdate = {
  readonly ref: string
  readonly commit: ObjectId
  /** The value that the server must have; null: no such ref. */
  readonly expected: ObjectId | null
}

/** `stale`: the server has another value. */
export type PushResult = 'done' | 'stale'

/** An upload of another process of this machine may take that long. */
const LOCK_WAIT_MS = 600_000
const PUSHES_PER_GC = 100
const PAGE_BYTES = 8 << 20

export class ScratchRepository {
  readonly target: GitTarget
  readonly #gitDir: string
  readonly #stallMs: number
  #pushes = 0

  constructor(options: {
    readonly gitDir: string
    readonly target: GitTarget
    readonly stallMs: number
  }) {
    this.#gitDir = options.gitDir
    this.target = options.target
    this.#stallMs = options.stallMs
  }

  /** Only one process at a time works on the copy. */
  async withLock<T>(work: () => Promise<T>): Promise<T> {
    mkdirSync(dirname(this.#gitDir), { recursive: true, mode: 0o700 })
    const lock: Lock | undefined = await takeLock(`${this.#gitDir}.lock`, {
      waitMs: LOCK_WAIT_MS,
      purpose: 'remote',
    })
    if (lock === undefined)
      throw unreachable(this.target, 'another process of this machine is still transferring data')
    try {
      await this.#create()
      return await work()
    } finally {
      lock.release()
    }
  }

  /** Brings the refs that match these patterns, and their objects; removes refs that the server no longer has. */
  async fetch(patterns: readonly string[]): Promise<void> {
    const refspecs = patterns.map((pattern) => `+${pattern}:${pattern}`)
    const options = ['--progress', '--prune', '--no-tags', '--no-write-fetch-head']
    const args = ['fetch', ...options, 'origin', ...refspecs]
    const run = await this.#ask(args)
    if (run.status !== 0) throw explainFailure(run, this.target)
  }

  /** All updates or none. */
  async push(updates: readonly RefUpdate[]): Promise<PushResult> {
    const leases = updates.map(({ ref, expected }) => `--force-with-lease=${ref}:${expected ?? ''}`)
    const refspecs = updates.map(({ ref, commit }) => `${commit}:${ref}`)
    const atomic = updates.length > 1 ? ['--atomic'] : []
    const options = ['--porcelain', '--progress', '--no-verify', ...atomic, ...leases]
    const run = await this.#ask(['push', ...options, 'origin', ...refspecs])
    const result = this.#readResult(run)
    if (result === 'done') {
      await this.setRefs(updates.map(({ ref, commit }) => ({ ref, commit })))
      this.#pushes += 1
      if (this.#pushes % PUSHES_PER_GC === 0) await this.collectGarbage()
    }
    return result
  }

  /** In the copy only. Null removes a ref. */
  async setRefs(
    refs: readonly { readonly ref: string; readonly commit: ObjectId | null }[],
  ): Promise<void> {
    const lines = refs.map(({ ref, commit }) =>
      commit === null ? `delete ${ref}\n` : `update ${ref} ${commit}\n`,
    )
    await this.#git(['update-ref', '--stdin'], [lines.join('')])
  }

  /** The refs in the copy with one of these names, or a name that begins with one and a slash. */
  async refs(...names: readonly string[]): Promise<ReadonlyMap<string, RefValue>> {
    const format = '--format=%(refname) %(objectname) %(tree)'
    const output = await this.#git(['for-each-ref', format, ...names])
    const lines = output.toString('utf8').split('\n').slice(0, -1)
    return new Map(
      lines.map((line) => {
        const [ref = '', commit = '', tree = ''] = line.split(' ')
        return [ref, { commit, tree: tree === '' ? null : tree }]
      }),
    )
  }

  /** The files in the tree of a commit, by path. */
  async list(commit: ObjectId): Promise<ReadonlyMap<string, StoredBlob>> {
    const output = await this.#git(['ls-tree', '-r', '-l', '-z', '--full-tree', commit])
    const entries = output.toString('latin1').split('\0').slice(0, -1)
    const files = entries.flatMap((entry) => {
      const [, id = '', bytes = '', path = ''] =
        /^\d{6} blob ([0-9a-f]{40}) +(\d+)\t([^]*)$/.exec(entry) ?? []
      return id === '' ? [] : [[path, { id, bytes: Number(bytes) }] as const]
    })
    return new Map(files)
  }

  /** The blobs with these names, each an id or `<commit>:<path>`. Undefined: the copy has no such blob. */
  async findBlobs(names: readonly string[]): Promise<readonly (StoredBlob | undefined)[]> {
    if (names.length === 0) return []
    const args = ['cat-file', '--batch-check', '--buffer']
    const output = await this.#git(args, [`${names.join('\n')}\n`])
    const lines = output.toString('utf8').split('\n')
    return names.map((_, index) => {
      const [, id, bytes] = /^([0-9a-f]{40}) blob (\d+)$/.exec(lines[index] ?? '') ?? []
      return id === undefined ? undefined : { id, bytes: Number(bytes) }
    })
  }

  /** The content of one blob. Undefined: the copy does not have it, or it is longer. */
  async readBlob(name: string, maxBytes: number): Promise<Buffer | undefined> {
    const [blob] = await this.findBlobs([name])
    if (blob === undefined || blob.bytes > maxBytes) return undefined
    return (await this.#readBlobs([blob.id]))[0]
  }

  /** The contents of blobs that the copy has, in order, a few megabytes at a time. The caller limits the size of each. */
  async *readPages(blobs: readonly StoredBlob[]): AsyncGenerator<Buffer> {
    for (let at = 0; at < blobs.length; ) {
      const page: string[] = []
      for (let bytes = 0; at < blobs.length; at++) {
        const blob = blobs[at] as StoredBlob
        bytes += blob.bytes
        if (page.length > 0 && bytes > PAGE_BYTES) break
        page.push(blob.id)
      }
      yield* await this.#readBlobs(page)
    }
  }

  /** Removes refs of the copy whose commits were made before this time. */
  async removeOldRefs(name: string, beforeMs: number): Promise<void> {
    const format = '--format=%(refname) %(committerdate:unix)'
    const output = await this.#git(['for-each-ref', format, name])
    const lines = output.toString('utf8').split('\n').slice(0, -1)
    const old = lines.flatMap((line) => {
      const [ref = '', seconds] = line.split(' ')
      return Number(seconds) * 1000 < beforeMs ? [{ ref, commit: null }] : []
    })
    await this.setRefs(old)
  }

  /** Runs `git fast-import` with these commands. */
  async importObjects(commands: AsyncIterable<Uint8Array | string>): Promise<string> {
    const args = ['fast-import', '--quiet', '--done', '--force', '--date-format=raw']
    return (await this.#git(args, commands)).toString('utf8')
  }

  /** Removes old objects if there are many. */
  async collectGarbage(): Promise<void> {
    const settings = { 'gc.auto': '2000', 'gc.autoDetach': 'false', 'gc.pruneExpire': '1.day.ago' }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    await this.#git([...options, 'gc', '--auto', '--quiet'])
  }

  async close(): Promise<void> {
    if (this.#pushes > 0) await this.withLock(() => this.collectGarbage())
    this.#pushes = 0
  }

  damaged(claim: string): SavestateError {
    return new SavestateError(
      'STORE_DAMAGED',
      `Data of the remote ${this.target.label} is damaged: ${claim}`,
      { hint: 'Run `savestate verify --remote`.' },
    )
  }

  async #readBlobs(ids: readonly ObjectId[]): Promise<readonly Buffer[]> {
    const output = await this.#git(['cat-file', '--batch', '--buffer'], [`${ids.join('\n')}\n`])
    let at = 0
    return ids.map((id) => {
      const end = output.indexOf('\n', at)
      const size = /^[0-9a-f]{40} blob (\d+)$/.exec(output.toString('latin1', at, end))?.[1]
      if (size === undefined) throw this.damaged(`it lacks ${id}`)
      at = end + Number(size) + 2
      return output.subarray(end + 1, end + 1 + Number(size))
    })
  }

  #readResult(run: GitRun): PushResult {
    const lines = run.output.toString('utf8').split('\n')
    const failed = lines.filter((line) => line.startsWith('!\t'))
    if (run.status === 0 && failed.length === 0) return 'done'
    const reasons = failed.map((line) => line.split('\t')[2] ?? '')
    if (reasons.length === 0) throw explainFailure(run, this.target)
    if (reasons.some((reason) => STALE.test(reason))) return 'stale'
    const reason = reasons.find((each) => !/atomic|transaction/.test(each)) ?? reasons[0] ?? ''
    if (PASSING.test(reason)) throw unreachable(this.target, reason)
    throw rejected(this.target, reason, run)
  }

  #ask(args: readonly string[]): Promise<GitRun> {
    return askServer(
      { gitDir: this.#gitDir, args },
      { target: this.target, stallMs: this.#stallMs },
    )
  }

  #git(
    args: readonly string[],
    input: Iterable<string> | AsyncIterable<Uint8Array | string> = [],
  ): Promise<Buffer> {
    return runGit({ gitDir: this.#gitDir, args, input })
  }

  /** Complete at once: a killed process leaves no half of a repository. */
  async #create(): Promise<void> {
    if (existsSync(this.#gitDir)) return
    const temporary = `${this.#gitDir}.new`
    rmSync(temporary, { recursive: true, force: true })
    mkdirSync(temporary, { recursive: true, mode: 0o700 })
    await runGit({ gitDir: temporary, args: ['init', '--quiet', '--bare', '--template='] })
    renameSync(temporary, this.#gitDir)
  }
}

/** The server's value is not the expected one, by the client's or by the server's comparison. */
const STALE =
  /stale info|fetch first|cannot lock ref|failed to update ref|already exists|incorrect old value|failed to lock/
const PASSING = /unpacker error|unpack|No space left|Internal Server Error/
