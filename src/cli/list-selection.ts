// Selects the checkpoints that `savestate list` shows: those of a project, a session or all projects that match its
// filters. Rows keep the numbers of the whole list, so that they can be typed.
import { type CheckpointView, SavestateError } from '../index.js'
import { isPrompt } from './checkpoint-groups.js'
import type { Request } from './command.js'
import { sessionToRead } from './known-session.js'
import { projectPaths } from './project-path.js'

export type Listed = CheckpointView & {
  /** In the list of the project; 1 is the newest. */
  readonly number?: number
  readonly project?: string | null
}

export type Selection = {
  /** The checkpoints of the scope that were read, newest first: at least all that the chosen rows are grouped with. */
  readonly all: readonly Listed[]
  readonly chosen: readonly Listed[]
  /** How many more the filters let through; null if that is not known, because the search stopped when it had enough. */
  readonly more: number | null
  /** Set if the search for words did not reach the oldest checkpoint. */
  readonly searched?: number
}

/** Enough for the turns of most agents. */
const EXTRA_ROWS = 200

/** A row that matches the filters, with what they found out about it. */
type Match = { readonly id: string }

export async function selectRows(request: Request, limit: number | undefined): Promise<Selection> {
  const { options, paths } = request
  const hasFilter =
    ['grep', 'pinned', 'prompts'].some((name) => options.has(name)) || paths.length > 0
  const isProject = !options.has('session') && !options.has('all')
  if (isProject && !hasFilter && limit !== undefined) return newestRows(request, limit)
  // Without a filter the first rows are enough for JSON.
  const all = await scopeRows(request, request.isJson && !hasFilter ? limit : undefined)
  const found: Filtered = hasFilter
    ? await filterRows(request, { all, limit })
    : { rows: all, isCut: false }
  const chosen = limit === undefined ? found.rows : found.rows.slice(0, limit)
  const rest = found.rows.length - chosen.length
  return {
    all,
    chosen,
    more: rest > 0 && found.isCut ? null : rest,
    ...(found.searched === undefined ? {} : { searched: found.searched }),
  }
}

/** Reads no more of a long history than the newest rows and the turns that they belong to. */
export async function newestRows(request: Request, limit: number): Promise<Selection> {
  const project = await request.project()
  for (let size = request.isJson ? limit : limit + EXTRA_ROWS; ; size *= 4) {
    const { checkpoints, total } = await project.list({ limit: size }, request.hooks)
    const all = checkpoints.map((checkpoint, index) => ({ ...checkpoint, number: index + 1 }))
    const chosen = all.slice(0, limit)
    if (request.isJson || all.length === total || hasWholeTurns(chosen, all))
      return { all, chosen, more: total - chosen.length }
  }
}

/** Whether every turn of the chosen rows ends inside the rows: an older one of its session has another turn. */
function hasWholeTurns(chosen: readonly Listed[], all: readonly Listed[]): boolean {
  const oldest = new Map(all.map(({ session, turn }) => [session, turn]))
  return chosen.every(({ session, turn }) => session === null || oldest.get(session) !== turn)
}

async function scopeRows(request: Request, limit: number | undefined): Promise<readonly Listed[]> {
  const { options, project, store, hooks } = request
  const session = options.text('session')
  const input = limit === undefined ? {} : { limit }
  if (session !== undefined) return (await sessionToRead(await store(), session)).list(input)
  if (options.has('all')) return (await (await store()).list(input, hooks)).checkpoints
  const { checkpoints } = await (await project()).list(input, hooks)
  return checkpoints.map((checkpoint, index) => ({ ...checkpoint, number: index + 1 }))
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
  const result = await (await project()).search({ words, limit }, hooks)
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
  const { checkpoints, isComplete } = await (await project()).history({ paths, ...most }, hooks)
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
