// Lists checkpoints, newest first. Reads only the ledger: no git process, no file of the project.
import * as z from 'zod/mini'
import type { BriefsQuery } from '../../ledger/index.js'
import {
  MIN_PREFIX,
  parseCheckpointId,
  pathText,
  SavestateError,
  type SessionKey,
  uniquePrefix,
} from '../../model/index.js'
import { findKnownProject, type StoreContext } from '../operation/context.js'
import { wholeText } from '../operation/input-schemas.js'
import { projectOperation, sessionOperation, storeOperation } from '../operation/operation.js'
import { recoverAll, recoverIfNeeded } from '../restore/recover.js'
import { type CheckpointView, viewBrief } from './views.js'

/** `cursor`: the place of the last one, for the next page; undefined if there is no next page. */
type Page<View> = {
  readonly checkpoints: readonly View[]
  readonly cursor: number | undefined
}
export type ListPage = Page<CheckpointView>
export type StoreCheckpointView = CheckpointView & {
  /** The path of its project; null for a checkpoint of a session without one. */
  readonly project: string | null
}
export type ListAllPage = Page<StoreCheckpointView>

const filters = () => ({
  before: z.optional(z.string()),
  name: z.optional(wholeText()),
  since: z.optional(z.date()),
  until: z.optional(z.date()),
})
const scopeFilters = () => ({ ...filters(), session: z.optional(wholeText()) })
const paging = () => ({
  limit: z.optional(z.int().check(z.positive())),
  cursor: z.optional(z.int()),
})

const LIST = { name: 'list', effect: 'reads', withoutInput: () => ({}) } as const
const COUNT = { ...LIST, name: 'count' } as const

export const list = projectOperation({
  ...LIST,
  summary: 'List the checkpoints of this project, newest first',
  input: () => z.strictObject({ ...scopeFilters(), ...paging() }),
  async run(context, query, callbacks): Promise<ListPage> {
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    return project === undefined ? NONE : pageOf(context, { project: project.id, query })
  },
})

export const count = projectOperation({
  ...COUNT,
  summary: 'Count the checkpoints of this project',
  input: () => z.strictObject(scopeFilters()),
  async run(context, query): Promise<number> {
    const project = findKnownProject(context)
    return project === undefined ? 0 : countOf(context, { project: project.id, query })
  },
})

export const listAll = storeOperation({
  ...LIST,
  summary: 'List the checkpoints of all projects, newest first',
  input: () => z.strictObject({ ...scopeFilters(), ...paging() }),
  async run(context, query, callbacks): Promise<ListAllPage> {
    await recoverAll(context, callbacks)
    return pageOf(context, { query })
  },
})

export const countAll = storeOperation({
  ...COUNT,
  summary: 'Count the checkpoints of all projects',
  input: () => z.strictObject(scopeFilters()),
  run: async (context, query): Promise<number> => countOf(context, { query }),
})

export const listSession = sessionOperation({
  ...LIST,
  summary: 'List the checkpoints of a session, newest first',
  input: () => z.strictObject({ ...filters(), ...paging() }),
  run: async (context, query): Promise<ListPage> =>
    pageOf(context, { key: context.lease.key, query }),
})

export const countSession = sessionOperation({
  ...COUNT,
  summary: 'Count the checkpoints of a session',
  input: () => z.strictObject(filters()),
  run: async (context, query): Promise<number> =>
    countOf(context, { key: context.lease.key, query }),
})

type Scoped = Pick<BriefsQuery, 'project'> & {
  readonly key?: SessionKey
  readonly query: {
    readonly limit?: number | undefined
    readonly before?: string | undefined
    readonly cursor?: number | undefined
    readonly name?: string | undefined
    readonly since?: Date | undefined
    readonly until?: Date | undefined
    readonly session?: string | undefined
  }
}

const NONE = { checkpoints: [], cursor: undefined }

function pageOf(context: StoreContext, scoped: Scoped): ListAllPage {
  const { ledger } = context
  const scope = scopeOf(context, scoped)
  if (scope === undefined) return NONE
  const { limit } = scoped.query
  const briefs = ledger.checkpoints.briefs({ ...scope, limit })
  const pathOf =
    scoped.project === undefined && scoped.key === undefined
      ? new Map(ledger.projects().map(({ project }) => [project.id, pathText(project.path)]))
      : undefined
  const damaged = ledger.marks.damaged()
  const checkpoints = briefs.map((brief) => ({
    ...viewBrief(brief),
    ...(pathOf === undefined
      ? {}
      : { project: brief.project === null ? null : (pathOf.get(brief.project) ?? null) }),
    ...(damaged.has(brief.id) ? { damaged: true as const } : {}),
  }))
  const hasMore = limit !== undefined && briefs.length === limit
  return {
    checkpoints: checkpoints as StoreCheckpointView[],
    cursor: hasMore ? briefs.at(-1)?.order : undefined,
  }
}

function countOf(context: StoreContext, scoped: Scoped): number {
  const scope = scopeOf(context, scoped)
  return scope === undefined ? 0 : context.ledger.checkpoints.count(scope)
}

/** Undefined if the query names a session that does not exist. */
function scopeOf(context: StoreContext, { project, key, query }: Scoped): BriefsQuery | undefined {
  const { before, cursor, name, since, until } = query
  const session =
    query.session === undefined ? key : context.ledger.sessions.byId(query.session)?.key
  if (query.session !== undefined && session === undefined) return undefined
  return {
    project,
    session,
    name,
    sinceMs: since?.getTime(),
    untilMs: until?.getTime(),
    before: cursor ?? (before === undefined ? undefined : orderOf(context, before, session)),
  }
}

/** The place of a checkpoint in the list: its step in a session, else its place in the store. */
function orderOf({ ledger }: StoreContext, id: string, key: SessionKey | undefined): number {
  const known = ledger.checkpoints.get(parseCheckpointId(id))
  const order =
    key === undefined
      ? known && ledger.checkpoints.seqOf(known.id)
      : known?.session?.key === key
        ? known.session.step
        : undefined
  if (order !== undefined) return order
  const where = key === undefined ? 'store' : 'session'
  throw new SavestateError('CHECKPOINT_UNKNOWN', `The ${where} has no checkpoint ${id}`, {
    hint: '`savestate list` shows the checkpoints.',
  })
}

/** The shortest prefix of each id that identifies one checkpoint of the store, without reading the other ids. */
export function shortIds(
  { ledger }: StoreContext,
  ids: readonly string[],
): ReadonlyMap<string, string> {
  return new Map(
    ids.map((id) => [id, uniquePrefix(id, ledger.checkpoints.neighborsOf(id), MIN_PREFIX)]),
  )
}
