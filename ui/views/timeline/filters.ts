// The filters of the timeline. The address holds them: ?session=&author=&show=. Pure.
import type { Row } from '../../../src/ui/api.js'
import type { Group, SessionItem } from './groups.js'
import { authorsOf } from './words.js'

export const KINDS = [
  ['prompts', 'Prompts'],
  ['calls', 'Tool calls'],
  ['saves', 'Saves by hand'],
  ['rewinds', 'Rewinds'],
  ['unchanged', 'Without changes'],
] as const
export type Kind = (typeof KINDS)[number][0]

export type Filter = {
  /** '' for all. */
  readonly session: string
  readonly author: string
  readonly show: ReadonlySet<Kind>
}

const ALL: readonly Kind[] = KINDS.map(([kind]) => kind)

export function parseFilter(query: URLSearchParams): Filter {
  const words = query.get('show')?.split(',')
  const show = words === undefined ? ALL : ALL.filter((kind) => words.includes(kind))
  return {
    session: query.get('session') ?? '',
    author: query.get('author') ?? '',
    show: new Set(show),
  }
}

export function filterQuery({ session, author, show }: Filter): Readonly<Record<string, string>> {
  const isAll = show.size === ALL.length
  // An empty value would mean all.
  const words = ALL.filter((kind) => show.has(kind)).join(',')
  return { session, author, show: isAll ? '' : words === '' ? 'none' : words }
}

export function isFiltered({ session, author, show }: Filter): boolean {
  return session !== '' || author !== '' || show.size < ALL.length
}

export function filterGroups(groups: readonly Group[], filter: Filter): readonly Group[] {
  if (!isFiltered(filter)) return groups
  return groups.flatMap((group): readonly Group[] => {
    if (group.type === 'single') return isShownSingle(group.row, filter) ? [group] : []
    if (filter.session !== '' && group.session !== filter.session) return []
    const items = group.items.flatMap((item) => filterItem(item, filter))
    return items.length === 0 ? [] : [{ ...group, items }]
  })
}

function isShownSingle(row: Row, filter: Filter): boolean {
  const kind = row.kind === 'save' ? 'saves' : 'rewinds'
  return filter.session === '' && filter.show.has(kind) && hasWanted(row, filter)
}

function filterItem(item: SessionItem, filter: Filter): readonly SessionItem[] {
  const { show } = filter
  if (item.type === 'loose') return show.has('calls') && hasWanted(item.row, filter) ? [item] : []
  const wanted = item.steps.filter((row) => hasWanted(row, filter))
  const isPromptWanted = hasWanted(item.prompt, filter)
  if (wanted.length === 0 && !isPromptWanted) return []
  const steps = show.has('calls') ? wanted : []
  if (show.has('prompts')) return [{ ...item, steps }]
  return steps.toReversed().map((row) => ({ type: 'loose', key: row.id, row }))
}

/** By author and by whether something changed. */
function hasWanted(row: Row, { author, show }: Filter): boolean {
  if (author !== '' && !authorsOf(row).includes(author)) return false
  return show.has('unchanged') || row.files > 0 || row.name !== null || row.pinned
}
