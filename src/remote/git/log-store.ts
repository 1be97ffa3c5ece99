// Reads logs in the driver's copy, and changes them on the server by compare and swap: fetch, build commits, push with a lease on the
// values that were fetched, and again if another host was faster.
import { setTimeout as sleep } from 'node:timers/promises'
import { LOG_KINDS, type LogKind, type LogName, SavestateError } from '../../model/index.js'
import { remoteNewer } from '../check-format.js'
import { REMOTE_FORMAT } from '../driver.js'
import { buildCommit, type FileChange } from './build-commit.js'
import { unreachable } from './git-errors.js'
import { decodeManifest, encodeManifest, type LogManifest } from './log-manifest.js'
import { readFormatFile } from './remote-format.js'
import { everyLog, FORMAT_REF, logRef, logsOfKind, packsRef } from './ref-names.js'
import type { PushResult, RefUpdate, RefValue, ScratchRepository } from './local-copy.js'

export type LogState = {
  readonly manifest: LogManifest | undefined
  readonly log: RefValue | undefined
  readonly packs: RefValue | undefined
}

/** Without `write`: nothing is changed. */
export type Decision<T> = {
  readonly result: T
  readonly write?: {
    readonly manifest: LogManifest
    readonly segments?: readonly FileChange[]
    readonly packs?: readonly FileChange[]
  }
}

const MAX_TRIES = 20
const PAUSE_MS = 50
/** Refs of commits that are not pushed yet; the lock protects them. */
const BUILDING = ['refs/building/log', 'refs/building/packs'] as const

export class LogStore {
  readonly repository: ScratchRepository
  readonly #now: () => number

  constructor(repository: ScratchRepository, now: () => number) {
    this.repository = repository
    this.#now = now
  }

  /** Brings logs up to date, and checks the version of the remote. */
  async fetch(logs: readonly LogName[], { withPacks = false } = {}): Promise<void> {
    const patterns = logs.flatMap((log) => [
      `${logRef(log)}*`,
      ...(withPacks ? [`${packsRef(log)}*`] : []),
    ])
    await this.#fetchPatterns(patterns)
  }

  async fetchAll(kind?: LogKind): Promise<void> {
    await this.#fetchPatterns([everyLog(kind)])
  }

  /** As the copy has it. */
  async read(log: LogName): Promise<LogState> {
    const refs = await this.repository.refs(logRef(log), packsRef(log))
    const value = refs.get(logRef(log))
    const packs = refs.get(packsRef(log))
    if (value === undefined) return { manifest: undefined, log: undefined, packs }
    const [bytes] = await this.repository.readBlobs([`${value.commit}:head.json`])
    return { manifest: this.#decode(logRef(log), bytes), log: value, packs }
  }

  /** The logs of the copy. */
  async readAll(): Promise<readonly LogManifest[]> {
    const all = await this.repository.refs(...LOG_KINDS.map(logsOfKind))
    const refs = [...all].filter(([ref]) => ref.endsWith('/log'))
    const heads = refs.map(([, { commit }]) => `${commit}:head.json`)
    const contents = await this.repository.readBlobs(heads)
    return refs.map(([ref], index) => this.#decode(ref, contents[index]))
  }

  /**
   * Changes a log. `decide` may be called several times; its last answer counts. With `mayBeCached` it is asked first about the log as
   * the copy has it, and what it decides to write needs no fetch unless another host has changed the log.
   */
  async update<T>(
    log: LogName,
    decide: (state: LogState) => Decision<T> | Promise<Decision<T>>,
    { mayBeCached = false } = {},
  ): Promise<T> {
    return this.repository.withLock(async () => {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const isFresh = tries > 0 || !mayBeCached
        if (isFresh) await this.fetch([log], { withPacks: true })
        const state = await this.read(log)
        const decision = await decide(state)
        if (decision.write !== undefined) {
          if ((await this.#write(log, state, decision.write)) === 'done') return decision.result
          await sleep(PAUSE_MS * tries * (1 + Math.random()))
        } else if (isFresh) return decision.result
      }
      throw unreachable(this.repository.target, 'other hosts keep changing this log')
    })
  }

  nowMs(): number {
    return this.#now()
  }

  async #write(
    log: LogName,
    state: LogState,
    { manifest, segments = [], packs = [] }: NonNullable<Decision<never>['write']>,
  ): Promise<PushResult> {
    const head = { path: 'head.json', content: encodeManifest(manifest) }
    const changes = [
      { ref: logRef(log), before: state.log, files: [...segments, head] },
      ...(packs.length === 0 ? [] : [{ ref: packsRef(log), before: state.packs, files: packs }]),
    ]
    const updates: RefUpdate[] = []
    for (const [index, { ref, before, files }] of changes.entries()) {
      const building = { ref: BUILDING[index] ?? '', tree: before?.tree ?? null }
      const commit = await buildCommit(this.repository, { ...building, atMs: this.#now(), files })
      updates.push({ ref, commit, expected: before?.commit ?? null })
    }
    return this.#push(log, updates)
  }

  /** If the answer is lost, the server is asked what it has. */
  async #push(log: LogName, updates: readonly RefUpdate[]): Promise<PushResult> {
    try {
      return await this.repository.push(updates)
    } catch (error) {
      if (!(error instanceof SavestateError) || error.code !== 'REMOTE_UNREACHABLE') throw error
      if (await this.#isThere(log, updates)) return 'done'
      throw error
    }
  }

  async #isThere(log: LogName, updates: readonly RefUpdate[]): Promise<boolean> {
    try {
      await this.fetch([log], { withPacks: true })
    } catch (error) {
      // The caller reports the first error.
      if (error instanceof SavestateError && error.code === 'REMOTE_UNREACHABLE') return false
      throw error
    }
    const refs = await this.repository.refs(...updates.map(({ ref }) => ref))
    return updates.every(({ ref, commit }) => refs.get(ref)?.commit === commit)
  }

  async #fetchPatterns(patterns: readonly string[]): Promise<void> {
    await this.repository.fetch([`${FORMAT_REF}*`, ...patterns])
    const { version } = await readFormatFile(this.repository)
    if (version > REMOTE_FORMAT) throw remoteNewer(this.repository.target.label)
  }

  #decode(ref: string, bytes: Buffer | undefined): LogManifest {
    const manifest = bytes === undefined ? undefined : decodeManifest(bytes)
    if (manifest === 'newer') throw remoteNewer(this.repository.target.label)
    if (manifest === undefined || logRef(manifest.log) !== ref)
      throw this.repository.damaged(`${ref} has no valid head`)
    return manifest
  }
}
