// Removes all data of one project. Order of writes (docs/guide/store.md#clear): all rows in one transaction, the refs, the cache, then a
// collection. The transaction is the point of no return (I1, I2).
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { hasFiles, pathText, type Project, SavestateError } from '../../model/index.js'
import { removeRefs } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { removeAndCollect } from '../prune/gc.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { isHeld } from '../sessions/open-session.js'
import { projectOperation } from '../operation/operation.js'

export type ClearResult = {
  readonly path: string
  readonly checkpoints: number
  readonly sessions: number
  readonly applied: boolean
  readonly bytesReclaimed: number
}

export const clearProject = projectOperation({
  name: 'clear',
  summary: 'Remove all checkpoints and sessions of a project',
  effect: 'changes-store',
  input: () => z.strictObject({ dryRun: z._default(z.boolean(), false) }),
  async run(context, { dryRun }, callbacks): Promise<ClearResult> {
    const project = findKnownProject(context)
    const nothing = { path: pathText(context.path), checkpoints: 0, sessions: 0 }
    if (project === undefined) return { ...nothing, applied: !dryRun, bytesReclaimed: 0 }
    if (dryRun) return { ...countContents(context, project), applied: false, bytesReclaimed: 0 }
    const work = async () => ({ ...(await clearUnderLock(context, project)), applied: true })
    return removeAndCollect(context, project, { purpose: 'clear', callbacks, work })
  },
})

type Counts = Pick<ClearResult, 'path' | 'checkpoints' | 'sessions'>

function countContents({ ledger }: ProjectContext, { id, path }: Project): Counts {
  return {
    path: pathText(path),
    checkpoints: ledger.checkpoints.count({ project: id }),
    sessions: ledger.sessions.list({ project: id }).length,
  }
}

async function clearUnderLock(context: ProjectContext, project: Project): Promise<Counts> {
  const { home, ledger, snapshots, clock } = context
  ledger.removeBackup()
  const { counts, refs } = ledger.transaction(() => {
    refuseIfInUse(context, project)
    const withFiles = ledger.checkpoints.list({ project: project.id }).filter(hasFiles)
    const found = countContents(context, project)
    ledger.pruning.clearProject(project.id, clock.nowMs())
    return { counts: found, refs: withFiles.map(({ id }) => snapshots.refOf(project, id)) }
  })
  failpoint('clear:rows-removed')
  await removeRefs(snapshots.gitDir, refs)
  rmSync(join(home, 'cache', project.id), { force: true })
  return counts
}

function refuseIfInUse({ ledger, clock }: ProjectContext, { id }: Project): void {
  const busy = ledger.sessions
    .list({ project: id })
    .find(({ lease }) => isHeld(lease, clock.nowMs()))
  if (busy === undefined) return
  throw new SavestateError(
    'SESSION_BUSY',
    `The session ${JSON.stringify(busy.id)} of this project is in use`,
    { hint: 'Close it first, or wait until its process ends. Nothing was removed.' },
  )
}
