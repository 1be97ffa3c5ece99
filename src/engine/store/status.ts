// `savestate status`: the store, its projects, sessions, limits and recent failures.
import * as z from 'zod/mini'
import { pathText, type RetentionSetting } from '../../model/index.js'
import { diskUsage } from '../../system/index.js'
import { type AutoPruneRecord, readAutoPrune } from '../prune/auto-prune.js'
import { type LegacyArchive, legacyArchives } from './clear.js'
import type { StoreContext } from '../operation/context.js'
import { storeOperation } from '../operation/operation.js'
import { type ProjectState, readProjectState } from '../projects/project-state.js'
import { type RemoteStatus, remoteStatuses } from '../remotes/remote-status.js'
import { recoverAll } from '../restore/recover.js'
import { type SessionView, viewSession } from '../sessions/session-view.js'
import { storeSettings, type UntrustedFile, untrustedIfReadable } from './settings.js'
import { type AboveLimit, aboveLimit, projectSizes } from './sizes.js'

export type ProjectStatus = {
  readonly id: string
  readonly path: string
  readonly checkpoints: number
  /** Content that two projects share counts for both. Null: unknown. */
  readonly sizeBytes: number | null
  /** The part that states, such as conversations, take. */
  readonly stateBytes: number | null
  readonly lastTouch: Date
  readonly state: ProjectState
  /** Its files with requests that take effect only once the user trusts them. */
  readonly untrusted: readonly UntrustedFile[]
}

/** A project that some process watches (docs/internals/watching.md). */
export type WatchStatus = {
  readonly path: string
  readonly pid: number
  /** False while the system refuses to watch it: saves scan everything. */
  readonly isWatching: boolean
  /** Why the last full scan was necessary. */
  readonly doubt: string | null
  readonly doubtAt: Date | null
  readonly fullScans: number
  readonly folders: number
  /** Changes that a scan found and no event had reported. */
  readonly missed: number
}

export type FailureView = {
  readonly at: Date
  readonly operation: string
  readonly code: string
  readonly message: string
}

export type StatusResult = {
  readonly home: string
  readonly sizeBytes: number
  readonly projects: readonly ProjectStatus[]
  /** Checkpoints of sessions that belong to no project. */
  readonly unattached: number
  readonly sessions: readonly SessionView[]
  readonly watches: readonly WatchStatus[]
  readonly remotes: readonly RemoteStatus[]
  /** Archives of older stores. */
  readonly legacy: readonly LegacyArchive[]
  /** `maxCheckpoints` applies only to the policy `hermes`. */
  readonly limits: {
    readonly retention: RetentionSetting
    readonly maxSizeMb: number
    readonly maxCheckpoints: number
  }
  /** Null while the store is within its size limit. */
  readonly above: AboveLimit | null
  /** The time of the last prune. */
  readonly prunedAt: Date | null
  /** Removals by automatic prunes since they were last shown on a terminal; null if there never were any. */
  readonly autoPruned: AutoPruneRecord | null
  /** Failures of the last 24 hours, newest first. */
  readonly failures: readonly FailureView[]
}

export const status = storeOperation({
  name: 'status',
  summary: 'Show the store: its size and its projects',
  effect: 'reads',
  input: () => z.strictObject({}),
  async run(context, _input, callbacks): Promise<StatusResult> {
    await recoverAll(context, callbacks)
    const { home, ledger } = context
    const sizes = await context.objects.shared(() => projectSizes(context))
    // A folder whose first save failed has no checkpoints and is no project to the user.
    const saved = ledger.projects().filter(({ checkpoints }) => checkpoints > 0)
    const projects = saved.map(({ project, ...summary }) => {
      const state = readProjectState(project.path, summary)
      return {
        id: project.id,
        path: pathText(project.path),
        checkpoints: summary.checkpoints,
        sizeBytes: sizes.get(project.id)?.bytes ?? null,
        stateBytes: sizes.get(project.id)?.stateBytes ?? null,
        lastTouch: new Date(summary.touchedAtMs),
        state,
        untrusted: state === 'live' ? untrustedIfReadable(home, project.path) : [],
      }
    })
    const sessions = ledger.sessions.list({}).map((session) => viewSession(context, session))
    const { retention, maxSizeMb, maxCheckpoints } = storeSettings(home).config
    const prunedAtMs = ledger.record.time('pruned_at')
    const sizeBytes = await diskUsage(home)
    return {
      home,
      sizeBytes,
      projects: projects.sort((a, b) => (b.sizeBytes ?? 0) - (a.sizeBytes ?? 0)),
      unattached: ledger.pruning.unattached(),
      sessions,
      watches: watchesOf(context),
      remotes: remoteStatuses(context),
      legacy: await legacyArchives(home),
      limits: { retention, maxSizeMb, maxCheckpoints },
      above: aboveLimit(context, sizeBytes),
      prunedAt: prunedAtMs === undefined ? null : new Date(prunedAtMs),
      autoPruned: readAutoPrune(context),
      failures: failuresSince(context, Number(prunedAtMs ?? 0)),
    }
  },
})

function watchesOf({ ledger, snapshots }: StoreContext): WatchStatus[] {
  return snapshots.watches().flatMap((note) => {
    const path = ledger.project(note.project)?.path
    if (path === undefined) return []
    const { isWatching, doubt, doubtAtMs, fullScans, folders, missed } = note
    const doubtAt = doubtAtMs === null ? null : new Date(doubtAtMs)
    const { pid } = note.process
    return { path: pathText(path), pid, isWatching, doubt, doubtAt, fullScans, folders, missed }
  })
}

const MAX_FAILURES = 100
const DAY_MS = 24 * 60 * 60_000

/** A failed prune is reported until a later one succeeds. */
function failuresSince({ ledger, clock }: StoreContext, prunedAtMs: number): FailureView[] {
  const dayAgoMs = clock.nowMs() - DAY_MS
  return ledger.failures
    .list(MAX_FAILURES)
    .filter(({ operation, atMs }) => atMs >= (operation === 'prune' ? prunedAtMs : dayAgoMs))
    .map(({ atMs, operation, code, message }) => ({
      at: new Date(atMs),
      operation,
      code,
      message,
    }))
}
