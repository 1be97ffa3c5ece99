// One session: its figures and its conversation. `at` in the address is the first visible item, by its index or by a checkpoint.
import type { VNode } from 'preact'
import type { SessionPage } from '../../../src/ui/api.js'
import { rowOf, start } from '../../app/model.js'
import { addressOf, followLink, route, sessionPath } from '../../app/router.js'
import { ErrorMessage, Loading } from '../../components/states.js'
import { Author, count, Line, relativeTime } from '../../components/text.js'
import { Conversation, useSessionPage } from './conversation.js'
import { checkpointsByPosition, promptOf } from './session-page.js'
import { describeStatus } from './session-status.js'

export function SessionView(): VNode {
  const { id, query } = route.value
  const page = useSessionPage(id, { isFollowed: true })
  const at = query.get('at')
  const isOther = page.state === 'ready' && page.value.session.id !== id
  const state = isOther ? 'loading' : page.state
  return (
    <div
      class="view session-view"
      data-view="session"
      data-state={page.state === 'ready' && page.value.total === 0 ? 'empty' : state}
    >
      {state === 'loading' ? <Loading what="the session" /> : null}
      {page.state === 'error' ? <ErrorMessage error={page.error} /> : null}
      {page.state === 'ready' && !isOther ? (
        <>
          <SessionHeader page={page.value} />
          <AtPoint key={`${id} ${at ?? ''}`} page={page.value} at={at} />
        </>
      ) : null}
    </div>
  )
}

function AtPoint({ page, at }: { readonly page: SessionPage; readonly at: string | null }): VNode {
  if (at === null) return <Conversation page={page} />
  if (/^\d+$/.test(at))
    return <Conversation page={page} startAt={Math.min(Number(at), page.total)} />
  const checkpoint = page.checkpoints.find(({ id }) => id === at)
  const items = checkpoint?.items ?? null
  if (items === null) return <Conversation page={page} />
  const isCurrent = checkpointsByPosition(page, page.total)
    .get(items)
    ?.some(({ id }) => id === at)
  if (isCurrent === true) return <Conversation page={page} startAt={items} />
  return (
    <>
      <p class="session-notice">
        This is the conversation as it was at a checkpoint. It was rewound since.{' '}
        <a href={addressOf(sessionPath(page.session.id))} onClick={followLink}>
          Show the current one
        </a>
      </p>
      <Conversation page={page} atRef={at} />
    </>
  )
}

function SessionHeader({ page }: { readonly page: SessionPage }): VNode {
  const { session, checkpoints } = page
  const first = checkpoints.find(({ reason }) => promptOf(reason) !== undefined)
  const title = promptOf(first?.reason ?? null) ?? session.id
  return (
    <header class="session-head">
      <p class="session-path">
        <a href={addressOf('/sessions')} onClick={followLink}>
          Sessions
        </a>
        <span aria-hidden="true"> / </span>
        <code>
          <Line text={session.id} />
        </code>
      </p>
      <h1>
        <Line text={title} />
      </h1>
      <p class="session-figures">
        <Author name={session.agent} />
        <span>{describeStatus(session)}</span>
        <span>{count(session.turn, 'prompt')}</span>
        <span>{count(session.steps, 'step')}</span>
        <span>last used {relativeTime(session.updatedAt)}</span>
        {session.forkedFrom === null ? null : <ForkedFrom checkpoint={session.forkedFrom} />}
        <CompareWithOrigin page={page} />
      </p>
    </header>
  )
}

/** With a link to the session of the checkpoint, if the timeline has it. */
export function ForkedFrom({ checkpoint }: { readonly checkpoint: string }): VNode {
  const session = rowOf.value.get(checkpoint)?.session ?? null
  if (session === null) return <span>forked</span>
  return (
    <a href={addressOf(sessionPath(session), { at: checkpoint })} onClick={followLink}>
      forked from <Line text={session} />
    </a>
  )
}

/** What the fork has changed. Nothing without files on both sides. */
function CompareWithOrigin({ page }: { readonly page: SessionPage }): VNode | null {
  const { session, checkpoints } = page
  const newest = checkpoints.findLast(({ hasFiles }) => hasFiles)
  const origin = session.forkedFrom === null ? undefined : rowOf.value.get(session.forkedFrom)
  if (newest === undefined || origin?.hasFiles !== true || start.value?.isExport === true)
    return null
  return (
    <a href={addressOf('/compare', { a: origin.id, b: newest.id })} onClick={followLink}>
      compare with its origin
    </a>
  )
}
