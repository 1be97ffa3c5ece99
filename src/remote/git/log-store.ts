// Reads logs in the driver's copy, and changes them on the server by compare and swap: fetch, build commits, push with a lease on the
// values that were fetched, and again if another host was faster.
import { setTimeout as sleep } from 'node:timers/promises'
import { LOG_KINDS, type LogKind, type LogName, SavestateError } from '../../model/index.js'
import { remoteNewer } from '../check-format.js'
import { type DamagedLog, isDamaged, orDamaged } from '../damaged-log.js'
import { REMOTE_FORMAT } from '../driver.js'
import { buildCommit, type FileChange } from './build-commit.js'
import { unreachable } from './git-errors.js'
import { decodeManifest, encodeManifest, type LogManifest, MAX_HEAD_BYTES } from './log-manifest.js'
import { readFormatFile } from './remote-format.js'
import { everyLog, FORMAT_REF, logOfRef, logRef, logsOfKind, packsRef } from './ref-names.js'
import type {
  PushResult,
  RefUpdate,
  RefValue,
  ScratchRepository,
  StoredBlob,
} from './local-copy.js'

export type LogState = {
  readonly manifest: LogManifest | undefined
  readonly log: RefValue | undefined
  readonly packs: RefValue | undefined
}

/**
 * One malformed log keeps no one from the others. Those that cannot be read take no part in a search for a pack, and no collector changes
 * them: a log has all packs that it needs, so what is removed from another one is not missing there.
 */
export type LogsRead = {
  readonly manifests: readonly LogManifest[]
  readonly damaged: readonly DamagedLog[]
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
/** The limit of all heads that one call reads. */
const MAX_ALL_HEADS_BYTES = 512 << 20
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
    const [value, packs] = [refs.get(logRef(log)), refs.get(packsRef(log))]
    for (const [ref, { tree }] of refs) if (tree === null) throw this.#damaged(ref)
    if (value === undefined) return { manifest: undefined, log: undefined, packs }
    const bytes = await this.repository.readBlob(headOf(value), MAX_HEAD_BYTES)
    return { manifest: this.#decode(logRef(log), bytes), log: value, packs }
  }

  /** The logs of the copy, or those with one of these names of refs. */
  async readAll(names: readonly string[] = LOG_KINDS.map(logsOfKind)): Promise<LogsRead> {
    const refs = await this.repository.refs(...names)
    const logs = [...refs].flatMap(([ref, value]) => {
      const log = logOfRef(ref)
      return log === undefined ? [] : [{ ref, value, log }]
    })
    const blobs = await this.repository.findBlobs(logs.map(({ value }) => headOf(value)))
    const heads = logs.map((log, index) => ({ ...log, blob: blobs[index] }))
    const readable = withinLimits(heads.filter(({ value }) => value.tree !== null))
    const contents = new Map<string, LogManifest | DamagedLog>()
    let at = 0
    for await (const bytes of this.repository.readPages(readable.map(({ blob }) => blob))) {
      const { ref, log } = readable[at++] as (typeof readable)[number]
      contents.set(
        ref,
        orDamaged(log, () => this.#decode(ref, bytes)),
      )
    }
    const read = heads.map(
      ({ ref, log }) => contents.get(ref) ?? { log, damage: this.#damaged(ref) },
    )
    return {
      manifests: read.flatMap((each) => (isDamaged(each) ? [] : [each])),
      damaged: read.filter(isDamaged),
    }
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
    const content = encodeManifest(manifest)
    if (content.length > MAX_HEAD_BYTES) throw tooLong(log)
    const head = { path: 'head.json', content }
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
    if (manifest === undefined || logRef(manifest.log) !== ref) throw this.#damaged(ref)
    return manifest
  }

  #damaged(ref: string): SavestateError {
    return this.repository.damaged(`${ref} has no valid head`)
  }
}

const headOf = ({ commit }: RefValue) => `${commit}:head.json`

function tooLong({ kind, id }: LogName): SavestateError {
  return new SavestateError('BAD_INPUT', `The ${kind} ${id} is too long for a git repository`, {
    hint: 'Remove checkpoints from it, or use a remote in PostgreSQL.',
  })
}

/** The heads that are read, the shortest first: long ones of a hostile host leave no others out. */
function withinLimits<Head extends { readonly blob: StoredBlob | undefined }>(
  heads: readonly Head[],
): readonly (Head & { readonly blob: StoredBlob })[] {
  let left = MAX_ALL_HEADS_BYTES
  return heads
    .flatMap((head) => (head.blob === undefined ? [] : [{ ...head, blob: head.blob }]))
    .filter(({ blob }) => blob.bytes <= MAX_HEAD_BYTES)
    .sort((a, b) => a.blob.bytes - b.blob.bytes)
    .filter(({ blob }) => (left -= blob.bytes) >= 0)
}
