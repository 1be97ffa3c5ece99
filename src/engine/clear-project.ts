// Removes everything that the store holds of one project. Order of writes (docs/store.md#clear): all rows in one
// transaction, the refs, the cache, then a collection. Until the rows are gone nothing has happened (I1, I2).
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { hasFiles, pathText, type Project, SavestateError } from '../model/index.js'
import { removeRefs } from '../snapshot/index.js'
import { diskUsage, failpoint } from '../system/index.js'
import { knownProject, type ProjectContext, withProjectLock } from './context.js'
import { collectNow } from './drop.js'
import { isHeld } from './open-session.js'
import { projectOperation } from './operation.js'
import { recover } from './recover.js'

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
  async run(context, { dryRun }, hooks): Promise<ClearResult> {
    const project = knownProject(context)
    if (project === undefined) return { ...nothing(context), applied: !dryRun }
    if (dryRun) return { ...figures(context, project), applied: false, bytesReclaimed: 0 }
    const before = await diskUsage(context.home)
    const cleared = await withProjectLock(context, project, {
      purpose: 'clear',
      work: async () => {
        await recover(context, project, hooks)
        return clearHere(context, project)
      },
    })
    await collectNow(context, hooks)
    const bytesReclaimed = Math.max(0, before - (await diskUsage(context.home)))
    return { ...cleared, applied: true, bytesReclaimed }
  },
})

type Figures = Pick<ClearResult, 'path' | 'checkpoints' | 'sessions'>

function figures({ ledger }: ProjectContext, { id, path }: Project): Figures {
  return {
    path: pathText(path),
    checkpoints: ledger.checkpoints.briefs({ project: id }).length,
    sessions: ledger.sessions.list({ project: id }).length,
  }
}

function nothing({ path }: ProjectContext): Omit<ClearResult, 'applied'> {
  return { path: pathText(path), checkpoints: 0, sessions: 0, bytesReclaimed: 0 }
}

async function clearHere(context: ProjectContext, project: Project): Promise<Figures> {
  const { home, ledger, snapshots, clock } = context
  ledger.removeBackup()
  const { gone, refs } = ledger.transaction(() => {
    refuseHeld(context, project)
    const withFiles = ledger.checkpoints.list({ project: project.id }).filter(hasFiles)
    const cleared = figures(context, project)
    ledger.pruning.clearProject(project.id, clock.nowMs())
    return { gone: cleared, refs: withFiles.map(({ id }) => snapshots.refOf(project, id)) }
  })
  failpoint('clear:rows-removed')
  await removeRefs(snapshots.gitDir, refs)
  rmSync(join(home, 'cache', project.id), { force: true })
  return gone
}

function refuseHeld({ ledger, clock }: ProjectContext, { id }: Project): void {
  const held = ledger.sessions
    .list({ project: id })
    .find(({ lease }) => isHeld(lease, clock.nowMs()))
  if (held === undefined) return
  throw new SavestateError(
    'SESSION_BUSY',
    `The session ${JSON.stringify(held.id)} of this project is in use`,
    { hint: 'Close it first, or wait until its process ends. Nothing was removed.' },
  )
}
