import { groupByPrompt, mapGroup, rowsOf } from '../render/checkpoint-groups.js'
import { checkpointTable, hasSeveralAuthors, type ListRow } from '../render/checkpoint-table.js'
import { command, type Request } from '../runtime/command.js'
import { formatNumber } from '../terminal/format-numbers.js'
import { type Listed, type Selection, selectRows } from '../runtime/list-selection.js'
import { printable, printableLine } from '../terminal/escape.js'
import { pruneNotice } from '../render/prune-notice.js'
import { programFor, quoteForShell } from '../terminal/shell-quote.js'

const DEFAULT_LIMIT = 20

export const run = command({
  call: (request): Promise<Selection> =>
    selectRows(
      request,
      request.options.number('limit') ?? (request.isJson ? undefined : DEFAULT_LIMIT),
    ),
  json: ({ chosen }) => ({ checkpoints: chosen }),
  async render(selection, request) {
    const { chosen, all } = selection
    if (chosen.length === 0) return emptyText(selection, request)
    const { options, screen } = request
    const shown = new Set(chosen.map(({ id }) => id))
    const isShown = ({ id }: { readonly id: string }) => shown.has(id)
    const toListRow = (row: Listed): ListRow => {
      const label = options.has('session') ? `step ${row.step}` : row.number?.toString()
      const shortId = ids.get(row.id) ?? row.id
      return { ...row, shortId, ...(label === undefined ? {} : { label }) }
    }
    const groups = groupByPrompt(all).filter((group) => rowsOf(group).some(isShown))
    const ids = await (await request.store()).shortIds(
      groups.flatMap((group) => rowsOf(group).map(({ id }) => id)),
    )
    return checkpointTable(
      groups.map((group) => mapGroup(group, toListRow)),
      {
        screen,
        shown: isShown,
        hasAuthors: hasSeveralAuthors(all),
        countsHidden: !hasFilter(request),
        promptsOnly: options.has('prompts'),
      },
    )
  },
  async note(selection, request) {
    const { screen } = request
    const notes = [momentNote(selection, request), moreNote(selection, request)]
    const dim = notes.filter((text) => text !== undefined).join('\n')
    const pruned = screen.isTerminal ? await pruneNotice(request) : undefined
    const texts = [...(dim === '' ? [] : [screen.paintNote('dim', dim)]), pruned ?? []].flat()
    return texts.length === 0 ? undefined : texts.join('\n')
  },
})

function momentNote({ chosen }: Selection, { options }: Request): string | undefined {
  const calls = chosen.filter(({ moment }) => moment === 'after')
  if (calls.length === 0 || options.has('prompts')) return undefined
  const legend = '● is the folder before the prompt; a call’s row is the folder after the call.'
  if (options.has('all')) return legend
  return `${legend}\nGo to just before a call: ${programFor(options)} rewind N --before`
}

function moreNote({ chosen, more }: Selection, request: Request): string | undefined {
  if (more === 0) return undefined
  const limit = more === null ? chosen.length * 5 : chosen.length + more
  const { options, paths } = request
  const words = [
    ...['session', 'grep'].flatMap((name) => {
      const text = options.text(name)
      return text === undefined ? [] : [`--${name} ${quoteForShell(text)}`]
    }),
    ...['all', 'pinned', 'prompts'].flatMap((name) => (options.has(name) ? [`--${name}`] : [])),
    `-n ${limit}`,
    ...(paths.length === 0 ? [] : ['--', ...paths.map(quoteForShell)]),
  ]
  const count = more === null ? 'There are more' : `${formatNumber(more)} more`
  return `${count}: ${programFor(options)} list ${words.join(' ')}`
}

function emptyText({ all }: Selection, { options, paths }: Request): string {
  const session = options.text('session')
  const program = programFor(options)
  if (all.length === 0 && session !== undefined)
    return `Nothing has been saved in the session ${printableLine(session)} yet.`
  if (all.length === 0) {
    const where = options.has('all')
      ? 'Nothing has been saved yet.'
      : 'Nothing has been saved here yet.'
    return `${where} Save this folder with: ${program} save`
  }
  const words = options.text('grep')
  const conditions = [
    ...(options.has('pinned') ? ['is pinned'] : []),
    ...(words === undefined ? [] : [`has the words ${JSON.stringify(printable(words))}`]),
    ...(paths.length === 0 ? [] : [`changed ${paths.map(printable).join(' or ')}`]),
  ]
  return `No checkpoint ${conditions.join(' and ')}.`
}

function hasFilter({ options, paths }: Request): boolean {
  return options.has('grep') || options.has('pinned') || paths.length > 0
}
