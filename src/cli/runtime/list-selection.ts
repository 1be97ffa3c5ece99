// Selects the checkpoints that `savestate list` shows: those of a project, a session or all projects that match its
// filters. Rows keep the numbers of the whole list, so that they can be typed.
import { type CheckpointView, SavestateError } from '../../index.js'
import { isPrompt } from '../render/checkpoint-groups.js'
import type { Request } from './command.js'
import { sessionToRead } from './open-session.js'
import { projectPaths } from './path-arguments.js'

export type Listed = CheckpointView & {
  /** In the list of the project; 1 is the newest. */
  readonly number?: number
  readonly project?: string | null
}

export type Selection = {
  /** The checkpoints of the scope, newest first: all, or without a filter as many as the table needs. */
  readonly all: readonly Listed[]
  readonly chosen: readonly Listed[]
  /** How many more the filters let through; null if that is not known, because the search stopped when it had enough. */
  readonly more: number | null
  /** Set if the search for words did not reach the oldest checkpoint. */
  readonly searched?: number
}

/** A row that matches the filters, with what they found out about it. */
type Match = { readonly id: string }

export async function selectRows(request: Request, limit: number | undefined): Promise<Selection> {
  const { options, paths } = request
  const hasFilter =
    ['grep', 'pinned', 'prompts'].some((name) => options.has(name)) || paths.length > 0
  if (!hasFilter) return newestRows(request, limit)
  const { rows: all } = await readRows(request, undefined)
  const found = await filterRows(request, { all, limit })
  const chosen = limit === undefined ? found.rows : found.rows.slice(0, limit)
  const rest = found.rows.length - chosen.length
  return {
    all,
    chosen,
    more: rest > 0 && found.isCut ? null : rest,
    ...(found.searched === undefined ? {} : { searched: found.searched }),
  }
}

async function newestRows(request: Request, limit: number | undefined): Promise<Selection> {
  const read = (most: number | undefined) => readRows(request, most)
  // JSON has no groups, so it needs no row beyond the limit.
  const { rows, total } =
    limit === undefined || request.isJson
      ? await read(limit)
      : await readNewest(async (most) => toPage(await read(most)), limit)
  const chosen = rows.slice(0, limit)
  return { all: rows, chosen, more: total - chosen.length }
}

type Rows = { readonly rows: readonly Listed[]; readonly total: number }

const toPage = ({ rows, total }: Rows) => ({ checkpoints: rows, total })

async function readRows(request: Request, limit: number | undefined): Promise<Rows> {
  const { options, project, store, hooks } = request
  const session = options.text('session')
  const input = limit === undefined ? {} : { limit }
  if (session !== undefined) {
    const rows = await (await sessionToRead(await store(), session)).list()
    return { rows, total: rows.length }
  }
  if (options.has('all')) {
    const opened = await store()
    return { rows: await opened.list({ ...input, ...hooks }), total: await opened.count() }
  }
  const here = await project()
  const checkpoints = await here.list({ ...input, ...hooks })
  const rows = checkpoints.map((checkpoint, index) => ({ ...checkpoint, number: index + 1 }))
  return { rows, total: await here.count() }
}

/** Enough rows to see who changes files here. */
const LEAST_READ = 100

/** The newest rows, and the rest of the turns that they belong to: a table shows their prompts and counts their steps. */
export async function readNewest<Row extends CheckpointView>(
  read: (
    limit: number,
  ) => Promise<{ readonly checkpoints: readonly Row[]; readonly total: number }>,
  limit: number,
): Promise<{ readonly rows: readonly Row[]; readonly total: number }> {
  for (let most = Math.max(limit, LEAST_READ); ; most *= 2) {
    const { checkpoints: rows, total } = await read(most)
    if (rows.length >= total || hasWholeTurns(rows, limit)) return { rows, total }
  }
}

/** Turns of a session follow on each other, so a row of an earlier one is older than all of this one. */
function hasWholeTurns(rows: readonly CheckpointView[], limit: number): boolean {
  const oldest = new Map<string, CheckpointView>()
  for (const row of rows) if (row.session !== null) oldest.set(row.session, row)
  return rows.slice(0, limit).every(({ session, turn, kind }) => {
    if (session === null || turn === null || turn === 0 || kind !== 'save') return true
    const first = oldest.get(session)
    return first?.step === 0 || (first?.turn ?? 0) < turn
  })
}

type Filtered = {
  readonly rows: readonly Listed[]
  /** True if a filter stopped before the oldest checkpoint. */
  readonly isCut: boolean
  readonly searched?: number
}

async function filterRows(
  request: Request,
  { all, limit }: { readonly all: readonly Listed[]; readonly limit: number | undefined },
): Promise<Filtered> {
  const { options } = request
  const isPinned = (row: Listed) => !options.has('pinned') || row.pinned
  // A step is counted below its prompt.
  const hasPrompt = options.has('prompts') ? turnsWithPrompt(all) : new Set<string>()
  const isWanted = (row: Listed) => isPinned(row) && (isPrompt(row) || !hasPrompt.has(turnOf(row)))
  const isAlone = !options.has('pinned') && !options.has('prompts') && !options.has('session')
  // One more than is shown says whether there are more. Several filters together need all matches of each.
  const most = limit === undefined || !isAlone ? {} : { limit: limit + 1 }
  const grep = await grepped(request, { all, most })
  const touched = await touching(request, grep === undefined ? most : {})
  const rows = all.flatMap((row) => {
    const matches = [grep, touched].flatMap((filter) => filter ?? [])
    const passed = matches.map(({ found }) => found.get(row.id))
    if (passed.includes(undefined) || !isWanted(row)) return []
    return [Object.assign({}, ...passed, row) as Listed]
  })
  const { searched } = grep ?? {}
  const isCut = grep?.isCut === true || touched?.isCut === true
  return { rows, isCut, ...(searched === undefined ? {} : { searched }) }
}

type Matches = {
  readonly found: ReadonlyMap<string, Match>
  readonly isCut: boolean
  readonly searched?: number
}

async function grepped(
  request: Request,
  { all, most }: { readonly all: readonly Listed[]; readonly most: { readonly limit?: number } },
): Promise<Matches | undefined> {
  const { options, project, hooks } = request
  const words = options.text('grep')
  if (words === undefined) return undefined
  if (words.trim() === '') throw new SavestateError('BAD_INPUT', '--grep needs a word')
  if (options.has('all')) return { found: byId(withWords(all, words)), isCut: false }
  const limit = most.limit ?? Math.max(1, all.length)
  const result = await (await project()).search(words, { limit, ...hooks })
  const isLimited = result.matches.length === limit
  return {
    found: byId(result.matches),
    isCut: isLimited && !result.isComplete,
    ...(result.isComplete || isLimited ? {} : { searched: result.searched }),
  }
}

/** In the lists of all projects: names and reasons only, since the files of many projects take long to compare. */
function withWords(rows: readonly Listed[], words: string): readonly Listed[] {
  const wanted = words.trim().toLowerCase().split(/\s+/)
  return rows.filter(({ name, reason }) => {
    const text = `${name ?? ''} ${reason ?? ''}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}

async function touching(
  request: Request,
  most: { readonly limit?: number },
): Promise<Matches | undefined> {
  const { paths: given, project, hooks } = request
  if (given.length === 0) return undefined
  const paths = await projectPaths(request, given)
  const { checkpoints, isComplete } = await (await project()).history(paths, { ...most, ...hooks })
  return { found: byId(checkpoints), isCut: !isComplete }
}

function byId(matches: readonly Match[]): ReadonlyMap<string, Match> {
  return new Map(matches.map((match) => [match.id, match]))
}

function turnsWithPrompt(rows: readonly Listed[]): ReadonlySet<string> {
  return new Set(rows.filter(isPrompt).map(turnOf))
}

function turnOf({ session, turn, kind }: Listed): string {
  return JSON.stringify([kind === 'save' ? session : null, turn])
}
