// Lists checkpoints, newest first. Reads only the ledger: no git process, no file of the project.
import * as z from 'zod/mini'
import { MIN_PREFIX, pathText, uniquePrefix } from '../../model/index.js'
import { knownProject, type StoreContext } from '../operation/context.js'
import { projectOperation, storeOperation } from '../operation/operation.js'
import { recoverAll, recoverIfNeeded } from '../restore/recover.js'
import { type CheckpointView, viewBrief } from './views.js'

/** `total`: how many there are without the limit. */
type ListOf<View> = { readonly checkpoints: readonly View[]; readonly total: number }
export type ListResult = ListOf<CheckpointView>
export type ListAllResult = ListOf<CheckpointView & { readonly project: string | null }>

const input = () => z.strictObject({ limit: z.optional(z.int().check(z.positive())) })

export const list = projectOperation({
  name: 'list',
  summary: 'List the checkpoints of this project, newest first',
  effect: 'reads',
  input,
  async run(context, { limit }, hooks): Promise<ListResult> {
    await recoverIfNeeded(context, hooks)
    const project = knownProject(context)
    if (project === undefined) return { checkpoints: [], total: 0 }
    const scope = { project: project.id }
    const { checkpoints } = context.ledger
    const views = checkpoints.briefs({ ...scope, limit }).map(viewBrief)
    return { checkpoints: markDamaged(context, views), total: checkpoints.count(scope) }
  },
})

export const listAll = storeOperation({
  name: 'list',
  summary: 'List the checkpoints of all projects, newest first',
  effect: 'reads',
  input,
  async run(context, { limit }, hooks): Promise<ListAllResult> {
    await recoverAll(context, hooks)
    const { ledger } = context
    const pathOf = new Map(
      ledger.projects().map(({ project }) => [project.id, pathText(project.path)]),
    )
    const views = ledger.checkpoints.briefs({ limit }).map((brief) => ({
      ...viewBrief(brief),
      project: brief.project === null ? null : (pathOf.get(brief.project) ?? null),
    }))
    return { checkpoints: markDamaged(context, views), total: ledger.checkpoints.count() }
  },
})

/** Returns the shortest unique prefix of each id, reading only the neighbors of each id. */
export function shortIds(
  { ledger }: StoreContext,
  ids: readonly string[],
): ReadonlyMap<string, string> {
  return new Map(
    ids.map((id) => [id, uniquePrefix(id, ledger.checkpoints.neighborsOf(id), MIN_PREFIX)]),
  )
}

/** Marks those that cannot be restored completely. */
function markDamaged<View extends CheckpointView>(
  { ledger }: StoreContext,
  views: readonly View[],
): View[] {
  const damaged = ledger.marks.damaged()
  return views.map((view) => (damaged.has(view.id) ? { ...view, damaged: true } : view))
}
