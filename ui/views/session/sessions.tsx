// The sessions of the project, last used first.
import type { VNode } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Output } from '../../../src/ui/api.js'
import { useShortcuts } from '../../app/keys.js'
import { project, rows, storeVersion } from '../../app/model.js'
import { addressOf, followLink, sessionPath } from '../../app/router.js'
import { call } from '../../app/transport.js'
import { EmptyMessage, ErrorMessage, Loading, useLoaded } from '../../components/states.js'
import { Author, count, Line, relativeTime } from '../../components/text.js'
import { ForkedFrom } from './session.js'
import { promptOf } from './session-page.js'
import { describeStatus, isInterrupted } from './session-status.js'

type ListedSession = Output<'sessions'>['sessions'][number]

export function Sessions(): VNode {
  const path = project.value
  const loaded = useLoaded(
    (signal) => call('sessions', { project: path }, { signal }),
    [path, storeVersion.value],
  )
  const list = useRef<HTMLOListElement>(null)
  const titles = useMemo(() => firstPrompts(), [rows.value])
  const move = (step: 1 | -1): void => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('a.session-link') ?? [])]
    const at = links.findIndex((link) => link === document.activeElement)
    const next = at < 0 ? (step === 1 ? 0 : -1) : Math.min(Math.max(at + step, 0), links.length - 1)
    links.at(next)?.focus()
  }
  useShortcuts(
    [
      { key: 'j', label: 'Next session', run: () => move(1) },
      { key: 'k', label: 'Previous session', run: () => move(-1) },
    ],
    [],
  )
  const sessions = loaded.state === 'ready' ? loaded.value.sessions : []
  const isEmpty = loaded.state === 'ready' && sessions.length === 0
  return (
    <div class="view" data-view="sessions" data-state={isEmpty ? 'empty' : loaded.state}>
      {loaded.state === 'loading' ? <Loading what="the sessions" /> : null}
      {loaded.state === 'error' ? <ErrorMessage error={loaded.error} /> : null}
      {isEmpty ? (
        <EmptyMessage title="No sessions yet">
          <p>
            A coding agent with installed hooks has one per conversation:{' '}
            <code>savestate install</code> installs them. Programs make sessions with the SDK.
          </p>
        </EmptyMessage>
      ) : null}
      {sessions.length === 0 ? null : (
        <>
          <header class="sessions-head">
            <h1>Sessions</h1>
            <span class="muted">{sessions.length.toLocaleString('en')}</span>
          </header>
          <ol class="sessions" ref={list}>
            {sessions.map((session) => (
              <SessionLine key={session.id} session={session} title={titles.get(session.id)} />
            ))}
          </ol>
        </>
      )}
    </div>
  )
}

function SessionLine(props: {
  readonly session: ListedSession
  readonly title: string | undefined
}): VNode {
  const { session } = props
  const title = props.title ?? promptOf(session.summary.first?.reason ?? null) ?? session.id
  return (
    <li data-session={session.id}>
      <a class="session-link" href={addressOf(sessionPath(session.id))} onClick={followLink}>
        <Line text={title} />
      </a>
      <span class="session-facts">
        <Author name={session.agent} />
        <span data-interrupted={isInterrupted(session) ? '' : undefined}>
          {describeStatus(session)}
        </span>
        <span>{count(session.turn, 'prompt')}</span>
        <span>{count(session.steps, 'step')}</span>
        {session.forkedFrom === null ? null : <ForkedFrom checkpoint={session.forkedFrom} />}
      </span>
      <time dateTime={session.updatedAt} title={new Date(session.updatedAt).toLocaleString()}>
        {relativeTime(session.updatedAt)}
      </time>
    </li>
  )
}

/** The rows of the timeline are newest first, so the last one found is the first prompt. */
function firstPrompts(): ReadonlyMap<string, string> {
  const titles = new Map<string, string>()
  for (const { session, reason } of rows.value) {
    const prompt = promptOf(reason)
    if (session !== null && prompt !== undefined) titles.set(session, prompt)
  }
  return titles
}
