// Search over prompts, answers, commands, reasons, names and changed paths. The loaded rows answer at once; the server adds the rest.
import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Output } from '../../../src/ui/api.js'
import { useShortcuts } from '../../app/keys.js'
import { project, rows, start } from '../../app/model.js'
import { addressOf, navigate, route } from '../../app/router.js'
import { call } from '../../app/transport.js'
import { EmptyMessage, ErrorMessage, useLoaded } from '../../components/states.js'
import { count } from '../../components/text.js'
import { findLoaded, mergeFound, wordsOf } from './find.js'
import { Result } from './result.js'

const TYPING_MS = 200
const LIMIT = 200
/** As many as the server gives; more are not worth reading. */
const MAX_LIMIT = 1000

export function Search(): VNode {
  const query = route.value.query.get('q') ?? ''
  const [typed, setTyped] = useState(query)
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const words = wordsOf(typed)
  const known = useRef(query)
  const search = () => {
    known.current = typed
    navigate(addressOf('/search', { q: typed }), { replace: true })
  }
  // Back and links change the address only. The search itself changes it too, and more may have been typed since.
  useEffect(() => {
    if (query === known.current) return
    known.current = query
    setTyped(query)
  }, [query])
  useEffect(() => {
    if (typed === query) return
    const timer = window.setTimeout(search, TYPING_MS)
    return () => window.clearTimeout(timer)
  }, [typed])
  useEffect(() => {
    if (query === '') field.current?.focus()
  }, [])

  const [depth, setDepth] = useState({ query, limit: LIMIT })
  const limit = depth.query === query ? depth.limit : LIMIT
  // Not after each change of the store: new rows are found among the loaded ones.
  const answer = useLoaded(
    async (signal) => ({
      query,
      limit,
      found:
        wordsOf(query).length === 0 || !hasServer()
          ? undefined
          : await call(
              'search',
              {
                project: project.peek(),
                words: query.trim(),
                limit,
              },
              { signal },
            ),
    }),
    [query, project.value, limit],
  )
  const isAnswered = answer.state === 'ready' && answer.value.query === typed
  const isCurrent = isAnswered && answer.value.limit === limit
  // While it searches further, what was found stays.
  const fromServer = isAnswered ? answer.value.found : undefined
  const loaded = rows.value
  const key = words.join(' ')
  const found = useMemo(
    () => mergeFound(findLoaded(loaded, words), fromServer),
    [loaded, key, fromServer],
  )
  const shown = found.slice(0, limit)

  const move = (by: number) => {
    const links = [...(list.current?.querySelectorAll('a') ?? [])]
    const at = links.findIndex((link) => link === document.activeElement)
    links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus()
  }
  useShortcuts(
    [
      { key: 'j', label: 'Next result', run: () => move(1) },
      { key: 'k', label: 'Previous result', run: () => move(-1) },
      { key: 'ArrowDown', label: 'Next result', run: () => move(1) },
      { key: 'ArrowUp', label: 'Previous result', run: () => move(-1) },
      { key: '/', label: 'Search field', run: () => field.current?.select() },
    ],
    [],
  )
  const isLoading = words.length > 0 && !isCurrent && answer.state !== 'error'
  const isEmpty = words.length > 0 && found.length === 0 && !isLoading
  const state =
    answer.state === 'error' ? 'error' : isLoading ? 'loading' : isEmpty ? 'empty' : 'ready'
  return (
    <div class="view search" data-view="search" data-state={state}>
      <h1 class="visually-hidden">Search</h1>
      <form
        class="search-form"
        role="search"
        aria-label="Checkpoints"
        onSubmit={(event) => {
          event.preventDefault()
          search()
          move(1)
        }}
      >
        <input
          ref={field}
          class="input"
          type="search"
          value={typed}
          placeholder="Prompts, answers, commands, messages, names, paths"
          aria-label="Search in prompts, answers, commands, messages, names and paths"
          onInput={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown') return
            event.preventDefault()
            move(1)
          }}
        />
      </form>
      <div class="search-summary">
        <p class="muted" role="status">
          {words.length === 0 ? '' : summary({ number: found.length, fromServer, isLoading })}
        </p>
      </div>
      {answer.state === 'error' ? <ErrorMessage error={answer.error} /> : null}
      {words.length === 0 ? (
        <EmptyMessage title="Find a checkpoint">
          <p>
            Type words of a prompt, a command, a message, a name or a changed file. All words must
            be found.
          </p>
        </EmptyMessage>
      ) : isEmpty ? (
        <EmptyMessage title="Nothing found">
          <p>
            No checkpoint has {words.length === 1 ? 'this word' : 'all of these words'} in its
            prompts, answers, commands, message, name or changed paths. To search the contents of
            files: <code>savestate search WORDS --content</code>
          </p>
        </EmptyMessage>
      ) : null}
      <ol class="search-results" ref={list} aria-label="Results">
        {shown.map((one) => (
          <Result key={one.row.id} found={one} words={words} />
        ))}
      </ol>
      {!isCurrent || (found.length <= limit && !isCut(fromServer, limit)) ? null : (
        <div class="search-summary">
          <p class="muted">The newest {shown.length} are shown. Add a word to find fewer.</p>
          {limit === MAX_LIMIT ? null : (
            <button
              type="button"
              class="button"
              onClick={() => setDepth({ query, limit: MAX_LIMIT })}
            >
              Show up to {MAX_LIMIT.toLocaleString('en')}
            </button>
          )}
        </div>
      )}
    </div>
  )
}

/** A store without a project has nothing to search; an exported page has only its rows. */
function hasServer(): boolean {
  return project.peek() !== '' && start.peek()?.isExport !== true
}

function summary({
  number,
  fromServer,
  isLoading,
}: {
  readonly number: number
  readonly fromServer: Output<'search'> | undefined
  readonly isLoading: boolean
}): string {
  const begin = number === 0 ? '' : `${count(number, 'checkpoint')} found. `
  if (isLoading) return `${begin}Searching conversations and paths …`
  if (fromServer === undefined) return `${begin}Only commands, messages and names were searched.`
  const { searched, isComplete: isWhole, notSearched } = fromServer
  const whole = isWhole
    ? `${begin}All ${count(searched, 'checkpoint')} searched.`
    : `${begin}The newest ${searched.toLocaleString('en')} searched; there are older ones.`
  return notSearched === undefined ? whole : `${whole} Encrypted conversations were not searched.`
}

/** The search ended because it had found enough. */
function isCut(found: Output<'search'> | undefined, limit: number): boolean {
  return found?.isComplete === false && found.matches.length >= limit
}
