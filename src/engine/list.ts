// The checkpoints, newest first. Reads the ledger only: no git process, no file of the project.
import * as z from 'zod/mini'
import { pathText } from '../model/index.js'
import { knownProject, type StoreContext } from './context.js'
import { projectOperation, storeOperation } from './operation.js'
import { recoverAll, recoverIfNeeded } from './recover.js'
import { type CheckpointView, viewBrief } from './view.js'

export type ListResult = {
  readonly checkpoints: readonly CheckpointView[]
  /** How many the project has, also beyond the limit. */
  readonly total: number
}
export type ListAllResult = {
  readonly checkpoints: readonly (CheckpointView & { readonly project: string | null })[]
}

const limit = () => z.optional(z.int().check(z.positive()))

export const list = projectOperation({
  name: 'list',
  summary: 'List the checkpoints of this project, newest first',
  effect: 'reads',
  input: () => z.strictObject({ limit: limit() }),
  async run(context, input, hooks): Promise<ListResult> {
    await recoverIfNeeded(context, hooks)
    const project = knownProject(context)
    if (project === undefined) return { checkpoints: [], total: 0 }
    const { checkpoints } = context.ledger
    const views = checkpoints.briefs({ project: project.id, limit: input.limit }).map(viewBrief)
    const total =
      input.limit === undefined ? views.length : checkpoints.count({ project: project.id })
    return { checkpoints: withDamage(context, views), total }
  },
})

export const listAll = storeOperation({
  name: 'list',
  summary: 'List the checkpoints of all projects, newest first',
  effect: 'reads',
  input: () => z.strictObject({ limit: limit() }),
  async run(context, input, hooks): Promise<ListAllResult> {
    await recoverAll(context, hooks)
    const { ledger } = context
    const pathOf = new Map(
      ledger.projects().map(({ project }) => [project.id, pathText(project.path)]),
    )
    const checkpoints = ledger.checkpoints.briefs({ limit: input.limit }).map((brief) => ({
      ...viewBrief(brief),
      project: brief.project === null ? null : (pathOf.get(brief.project) ?? null),
    }))
    return { checkpoints: withDamage(context, checkpoints) }
  },
})

/** Says which of them cannot be brought back whole. */
function withDamage<View extends CheckpointView>(
  { ledger }: StoreContext,
  views: readonly View[],
): View[] {
  const damaged = ledger.marks.damaged()
  return views.map((view) => (damaged.has(view.id) ? { ...view, damaged: true } : view))
}
