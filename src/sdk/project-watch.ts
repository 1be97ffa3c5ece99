// The memory of a project and the watch of its folder, for the methods of Project. Nothing happens to a project without a row.
import * as engine from '../engine/index.js'
import type { ProjectContext } from '../engine/index.js'
import type { Project } from '../model/index.js'
import type { Activity } from '../snapshot/index.js'
import type { Calls } from './opening/open-context.js'
import type { Watch } from './project-types.js'

type Context = ProjectContext & Calls

export function watch(context: Context): Watch {
  context.calls.refuseClosed()
  context.snapshots.watch(context.path)
  const close = () => unwatch(context)
  return { close, [Symbol.asyncDispose]: close }
}

export async function unwatch(context: Context): Promise<void> {
  await ifKnown(context, (project) => context.snapshots.unwatch(project))
}

/** False while another call uses the project. */
export async function unload(context: Context): Promise<boolean> {
  const isGone = await ifKnown(context, async (project) => {
    let isUnloaded = false
    await engine.tryWithProjectLock(context, project, {
      purpose: 'unload',
      work: async () => {
        await context.snapshots.unload(project)
        isUnloaded = true
      },
    })
    return isUnloaded
  })
  return isGone ?? true
}

export async function activity(context: Context): Promise<Activity | undefined> {
  return ifKnown(context, (project) => context.snapshots.activity(project))
}

export async function lookAtAll(context: Context): Promise<void> {
  await ifKnown(context, (project) => context.snapshots.lookAtAll(project))
}

/** Undefined if the project has no row in the ledger. */
function ifKnown<Result>(
  context: Context,
  work: (project: Project) => Promise<Result>,
): Promise<Result | undefined> {
  return context.calls.during(async () => {
    const project = engine.findKnownProject(context)
    return project === undefined ? undefined : work(project)
  })
}
