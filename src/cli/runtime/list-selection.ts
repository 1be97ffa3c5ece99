// Selects the checkpoints for `savestate list`: those of a project, a session or all projects that match the filters. Rows
// keep their numbers in the whole list, because other commands accept these.
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
  /** How many more rows match; null if unknown, because the search stopped early. */
  readonly more: number | null
}

export async function selectRows(request: Request, limit: number | undefined): Promise<Selection> {
  const { options, paths } = request
  const isNarrowed = options.has('pinned') || options.has('prompts')
  if (!isNarrowed && !options.has('grep') && paths.length === 0) return newestRows(request, limit)
  const { checkpoints: all } = await readRows(request, undefined)
  const isAlone = !isNarrowed && !options.has('session')
  // One row more than is shown, to know whether there are more. Combined filters need all matches of each.
  const most = limit === undefined || !isAlone ? {} : { limit: limit + 1 }
  const grep = await findWords(request, { all, most })
  const touched = await findPaths(request, grep === undefined ? most : {})
  const filters = [grep, touched].filter((filter) => filter !== undefined)
  // With --prompts a step is hidden if its prompt is in the list.
  const hasPrompt = new Set(options.has('prompts') ? all.filter(isPrompt).map(turnOf) : [])
  const rows = all.flatMap((row) => {
    const matches = filters.map(({ found }) => found.get(row.id))
    const isUnpinned = options.has('pinned') && !row.pinned
    const isHidden = !isPrompt(row) && hasPrompt.has(turnOf(row))
    if (matches.includes(undefined) || isUnpinned || isHidden) return []
    return [Object.assign({}, ...matches, row) as Listed]
  })
  const chosen = rows.slice(0, limit)
  const rest = rows.length - chosen.length
  const isCut = filters.some((filter) => filter.isCut)
  return {
    all,
    chosen,
    more: rest > 0 && isCut ? null : rest,
  }
}

async function newestRows(request: Request, limit: number | undefined): Promise<Selection> {
  // JSON has no groups, so it needs no row beyond the limit.
  const { checkpoints, total } =
    limit === undefined || request.isJson
      ? await readRows(request, limit)
      : await readNewest((most) => readRows(request, most), limit)
  const chosen = checkpoints.slice(0, limit)
  return { all: checkpoints, chosen, more: total - chosen.length }
}

type Rows<Row> = { readonly checkpoints: readonly Row[]; readonly total: number }

async function readRows(request: Request, limit: number | undefined): Promise<Rows<Listed>> {
  const { options, project, store, hooks } = request
  const session = options.text('session')
  const input = limit === undefined ? {} : { limit }
  if (session !== undefined) {
    const checkpoints = await (await sessionToRead(await store(), session)).list()
    return { checkpoints, total: checkpoints.length }
  }
  if (options.has('all')) {
    const opened = await store()
    return { checkpoints: await opened.list({ ...input, ...hooks }), total: await opened.count() }
  }
  const here = await project()
  const checkpoints = await here.list({ ...input, ...hooks })
  const numbered = checkpoints.map((checkpoint, index) => ({ ...checkpoint, number: index + 1 }))
  return { checkpoints: numbered, total: await here.count() }
}

/** Enough rows to tell whether several authors work here. */
const LEAST_READ = 100

/** Reads the newest rows and the rest of their turns, because the table shows prompts and counts steps. */
export async function readNewest<Row extends CheckpointView>(
  read: (limit: number) => Promise<Rows<Row>>,
  limit: number,
): Promise<Rows<Row>> {
  for (let most = Math.max(limit, LEAST_READ); ; most *= 2) {
    const { checkpoints, total } = await read(most)
    if (checkpoints.length >= total || hasWholeTurns(checkpoints, limit))
      return { checkpoints, total }
  }
}

/** The turns of a session do not overlap: once a row of an earlier turn is read, this turn is complete. */
function hasWholeTurns(rows: readonly CheckpointView[], limit: number): boolean {
  const oldest = new Map<string, CheckpointView>()
  for (const row of rows) if (row.session !== null) oldest.set(row.session, row)
  return rows.slice(0, limit).every(({ session, turn, kind }) => {
    if (session === null || turn === null || turn === 0 || kind !== 'save') return true
    const first = oldest.get(session)
    return first?.step === 0 || (first?.turn ?? 0) < turn
  })
}

/** The rows that match a filter, with the fields that the filter adds. */
type Matches = {
  readonly found: ReadonlyMap<string, object>
  /** True if the filter stopped before the oldest checkpoint. */
  readonly isCut: boolean
}

async function findWords(
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
  return { found: byId(result.matches), isCut: !result.isComplete }
}

/** For --all: names and messages only, because comparing the files of many projects takes long. */
function withWords(rows: readonly Listed[], words: string): readonly Listed[] {
  const wanted = words.trim().toLowerCase().split(/\s+/)
  return rows.filter(({ name, reason }) => {
    const text = `${name ?? ''} ${reason ?? ''}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}

async function findPaths(
  request: Request,
  most: { readonly limit?: number },
): Promise<Matches | undefined> {
  const { paths: given, project, hooks } = request
  if (given.length === 0) return undefined
  const paths = await projectPaths(request, given)
  const { checkpoints, isComplete } = await (await project()).history(paths, { ...most, ...hooks })
  return { found: byId(checkpoints), isCut: !isComplete }
}

function byId(matches: readonly { readonly id: string }[]): Matches['found'] {
  return new Map(matches.map((match) => [match.id, match]))
}

function turnOf({ session, turn, kind }: Listed): string {
  return JSON.stringify([kind === 'save' ? session : null, turn])
}
