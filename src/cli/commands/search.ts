import { maskSecrets } from '../../base/index.js'
import type { SearchHit, SearchResult } from '../../index.js'
import { parseSince } from '../runtime/parse-since.js'
import { projectPaths } from '../runtime/path-arguments.js'
import { command } from '../runtime/command.js'
import { displayPath, printableLine } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import type { Screen } from '../terminal/screen.js'
import { programFor } from '../terminal/shell-quote.js'
import { cutEnd } from '../terminal/text-width.js'

const DEFAULT_LIMIT = 20
const INDENT = '  '

export const run = command({
  async call(request): Promise<SearchResult> {
    const { options, positionals, screen, hooks } = request
    const { path, by, since } = {
      path: options.texts('path').at(-1),
      by: options.text('by'),
      since: options.text('since'),
    }
    const [inProject] = path === undefined ? [] : await projectPaths(request, [path])
    return (await request.project()).search(positionals.join(' '), {
      limit: options.number('limit') ?? DEFAULT_LIMIT,
      ...(inProject === undefined ? {} : { path: inProject }),
      ...(by === undefined ? {} : { by }),
      ...(since === undefined ? {} : { since: parseSince(since, screen.now) }),
      ...(options.has('content') ? { content: true } : {}),
      ...hooks,
    })
  },
  json: ({ hits, notSearched }) => ({
    hits,
    ...(notSearched === undefined ? {} : { notSearched }),
  }),
  async render({ matches, hits }, { screen, store, positionals }) {
    if (matches.length === 0)
      return `No checkpoint has ${JSON.stringify(printableLine(positionals.join(' ')))}.`
    const ids = await (await store()).shortIds(matches.map(({ id }) => id))
    return matches
      .flatMap(({ id, createdAt, session }) => [
        [
          screen.paint('yellow', ids.get(id) ?? id),
          screen.paint('dim', relativeTime(createdAt, screen.now)),
          ...(session === null ? [] : [screen.paint('dim', printableLine(session))]),
        ].join(INDENT),
        ...hits.filter(({ checkpoint }) => checkpoint === id).map((hit) => hitLine(hit, screen)),
      ])
      .join('\n')
  },
  note({ isComplete, notSearched, matches }, { screen, options }) {
    const limit = options.number('limit') ?? DEFAULT_LIMIT
    const notes = [
      ...(isComplete ? [] : [`There may be more: add -n ${Math.max(limit, matches.length) * 5}`]),
      ...(notSearched === undefined
        ? []
        : [
            `Prompts and conversations are encrypted and were not searched. To allow an index of them, which is not encrypted: ${programFor(options)} config set searchIndex true`,
          ]),
    ]
    return notes.length === 0 ? undefined : screen.paintNote('dim', notes.join('\n'))
  },
})

function hitLine({ where, text, path, line }: SearchHit, screen: Screen): string {
  const place = path === undefined ? where : `${displayPath(path)}:${line}`
  // A path is shown as other commands take it.
  const shown = where === 'path' ? displayPath(text) : printableLine(maskSecrets(text).text)
  return cutEnd(`${INDENT}${place}: ${shown}`, screen.width)
}
