// Carries out a plan, except for items that were used since. Order of writes (docs/guide/store.md#prune): rows, then refs. A ref without
// a row is garbage, a row without a ref is damage (I1, I2).
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Drop,
  pathText,
  SavestateError,
  type Session,
  type SessionKey,
} from '../../model/index.js'
import type { PruningRow } from '../../ledger/index.js'
import { removeRefs, scanRefs } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { tryWithProjectLock, type StoreContext } from '../operation/context.js'
import { pendingJournals } from '../restore/restore-journal.js'
import { readProjectState } from '../projects/project-state.js'
import type { PointsPlan, ProjectPlan, PrunePlan } from './prune-plan.js'
import type { Tally } from './prune-result.js'
import { deleteSession } from '../sessions/sessions.js'

export async function applyPlan(
  context: StoreContext,
  plan: PrunePlan,
  { tally, signal }: { readonly tally: Tally; readonly signal: AbortSignal | undefined },
): Promise<void> {
  // Refs that cannot be read must stop the prune before the first row is removed, not after it.
  scanRefs(context.snapshots.gitDir)
  deleteSessions(context, plan, tally)
  const ends = new Set(plan.sessions.map(({ session }) => session.key))
  applyUnattached(context, plan, { ends, tally })
  for (const project of plan.projects) {
    // Rows and refs of a project are removed together; the next prune collects their objects.
    signal?.throwIfAborted()
    if (project.drop.length === 0 && !project.isWhole) continue
    let why: string | undefined = 'it is in use'
    await tryWithProjectLock(context, project.summary.project, {
      purpose: 'prune',
      work: async () => {
        why = await applyTo(context, project, { ends, tally })
      },
    })
    if (why !== undefined)
      tally.fail(pathText(project.summary.project.path), {
        code: 'PROJECT_BUSY',
        message: `${why}; left for the next prune`,
      })
  }
}

function deleteSessions(context: StoreContext, plan: PrunePlan, tally: Tally): void {
  const known = new Map([...plan.projects, plan.unattached].flatMap((points) => [...points.known]))
  for (const { session } of plan.sessions) {
    try {
      const isDue = isAsPlanned(context, session, known)
      if (deleteSession(context, session.id, { isDue }).isDeleted) tally.sessions += 1
    } catch (error) {
      if (!(error instanceof SavestateError)) throw error
      tally.fail(`session ${session.id}`, error)
    }
  }
}

/** Called in the transaction: another process may have continued the session, or pinned or named one of its checkpoints. */
function isAsPlanned(
  { ledger }: StoreContext,
  planned: Session,
  known: PointsPlan['known'],
): (session: Session) => boolean {
  return ({ key, updatedAtMs }) =>
    key === planned.key &&
    updatedAtMs === planned.updatedAtMs &&
    ledger.checkpoints
      .list({ session: key })
      .every(({ id, pinned, name }) => !pinned && (known.get(id) ?? { name }).name === name)
}

type Work = { readonly ends: ReadonlySet<SessionKey>; readonly tally: Tally }

function applyUnattached(
  { ledger }: StoreContext,
  { unattached }: PrunePlan,
  { ends, tally }: Work,
): void {
  if (unattached.drop.length === 0) return
  const done = ledger.transaction(() => {
    const still = selectStillDue(ledger.pruning.checkpointsOf(null), unattached, ends)
    ledger.pruning.drop(still.map(({ id }) => id))
    return still
  })
  for (const { why } of done) tally.drop(why)
}

/** Returns why nothing was done; undefined if it was. */
async function applyTo(
  { home, ledger, snapshots }: StoreContext,
  plan: ProjectPlan,
  { ends, tally }: Work,
): Promise<string | undefined> {
  const { isWhole, isOrphaned, known } = plan
  const { project } = plan.summary
  if (pendingJournals(home).includes(project.id)) return 'a rewind of it is unfinished'
  const done = ledger.transaction(() => {
    if (isUsedSince(ledger, plan)) return undefined
    const drops = selectStillDue(ledger.pruning.checkpointsOf(project.id), plan, ends)
    ledger.pruning.dropFiles(drops.flatMap((it) => (it.keepsState === true ? it.id : [])))
    ledger.pruning.drop(drops.flatMap((it) => (it.keepsState === true ? [] : it.id)))
    return { drops, isForgotten: isWhole && ledger.pruning.forgetProject(project.id) }
  })
  if (done === undefined) return 'it was used in the meantime'
  const { drops, isForgotten } = done
  failpoint('prune:project-rows-removed')
  const withFiles = drops.filter(({ id }) => known.get(id)?.commit !== null)
  await removeRefs(
    snapshots.gitDir,
    withFiles.map(({ id }) => snapshots.refOf(project, id)),
  )
  for (const { why, keepsState } of drops) {
    if (keepsState === true) tally.files += 1
    else tally.drop(why)
  }
  if (isForgotten) {
    rmSync(join(home, 'cache', project.id), { force: true })
    if (isOrphaned) tally.orphan += 1
    else tally.stale += 1
  }
  return undefined
}

/** Inside the transaction. Skips checkpoints that were pinned, named or continued since, or whose session was kept. */
function selectStillDue(
  rows: readonly PruningRow[],
  { drop, known }: PointsPlan,
  ends: ReadonlySet<SessionKey>,
): Drop[] {
  const now = new Map(rows.map((row) => [row.id, row]))
  return drop.filter((it) => {
    const row = now.get(it.id)
    // It was removed with its session.
    if (row === undefined) return true
    const planned = known.get(it.id)
    if (planned === undefined || row.pinned || row.name !== planned.name) return false
    if (row.isOfThread !== planned.isOfThread) return false
    if (row.session === null) return planned.session === null || ends.has(planned.session.key)
    if (ends.has(row.session.key)) return false
    // Thinning out the past of a session is safe while it continues; only its head must stay.
    const isThinned = it.why === 'prompts' || it.why === 'days'
    const isAsBefore = row.session.updatedAtMs === planned.session?.updatedAtMs
    const isHeadToo = row.session.isHead && it.keepsState !== true
    return (isThinned || isAsBefore) && !isHeadToo
  })
}

/** A save that found nothing new relies on the existing checkpoints, and a missing folder may exist again. */
function isUsedSince({ pruning }: StoreContext['ledger'], plan: ProjectPlan): boolean {
  const { isPast, isOrphaned, summary } = plan
  if (!isPast) return false
  const { project } = summary
  if (pruning.touchedAtMs(project.id) !== summary.touchedAtMs) return true
  return isOrphaned && readProjectState(project.path, summary) !== 'orphan'
}
