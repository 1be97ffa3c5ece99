// The conversation of a session, at its end or at a checkpoint: loads it, follows the store, and says why there is none.
import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { SessionPage } from '../../../src/ui/api.js'
import { reportError } from '../../app/errors.js'
import { connection, rows, start, storeVersion } from '../../app/model.js'
import { call } from '../../app/transport.js'
import {
  EmptyMessage,
  ErrorMessage,
  type Loaded,
  Loading,
  useLoaded,
} from '../../components/states.js'
import { ConversationData } from './conversation-data.js'
import { Feed } from './feed.js'
import { checkpointsByPosition, promptsOf } from './session-page.js'
import { Outline } from './outline.js'

/** Loads again when the session has a new checkpoint, and with `isFollowed` also when its agent has written more. */
export function useSessionPage(session: string, { isFollowed = false } = {}): Loaded<SessionPage> {
  const newest = useMemo(
    () => rows.value.find((row) => row.session === session)?.id,
    [session, storeVersion.value],
  )
  const [bytes, setBytes] = useState<number | null>(null)
  const changes = [session, newest, bytes]
  const page = useLoaded((signal) => call('session', { session }, { signal }), changes)
  const known = page.state === 'ready' ? page.value.transcriptBytes : null
  useTranscriptPoll(isFollowed ? session : undefined, { known, onChange: setBytes })
  return page
}

const POLL_MS = 1000

/** No hook runs after the last answer of a turn, so no event reports it. The server asks for the size of a file. */
function useTranscriptPoll(
  session: string | undefined,
  given: { readonly known: number | null; readonly onChange: (bytes: number | null) => void },
): void {
  const { known, onChange } = given
  const isLive = connection.value === 'live'
  useEffect(() => {
    if (session === undefined || known === null || !isLive) return undefined
    const controller = new AbortController()
    let timer = 0
    const poll = async (): Promise<void> => {
      try {
        const isVisible = document.visibilityState === 'visible'
        const { bytes } = isVisible
          ? await call('transcriptBytes', { session }, controller)
          : { bytes: known }
        if (controller.signal.aborted) return
        if (bytes !== known) onChange(bytes)
        plan()
      } catch (error) {
        // It begins again with the next page of the session, or when the server is back.
        reportError(error)
      }
    }
    const plan = () => {
      timer = window.setTimeout(() => void poll(), POLL_MS)
    }
    plan()
    return () => {
      controller.abort()
      window.clearTimeout(timer)
    }
  }, [session, known, isLive])
}

/** For the view of a checkpoint: the conversation as it was then. */
export function ConversationList(props: { readonly session: string; readonly ref: string }): VNode {
  const { session, ref } = props
  const page = useSessionPage(session)
  if (page.state === 'loading') return <Loading what="the conversation" />
  if (page.state === 'error') return <ErrorMessage error={page.error} />
  if (page.value.session.id !== session) return <Loading what="the conversation" />
  return <Conversation key={`${session} ${ref}`} page={page.value} atRef={ref} />
}

export function Conversation(props: {
  readonly page: SessionPage
  /** The conversation as it was at this checkpoint. */
  readonly atRef?: string
  /** The first item that is visible; the end if undefined. */
  readonly startAt?: number
}): VNode {
  const { page, atRef, startAt } = props
  const total =
    atRef === undefined ? page.total : (page.checkpoints.find(({ id }) => id === atRef)?.items ?? 0)
  if (page.problem !== null)
    return (
      <EmptyMessage title="The conversation cannot be shown">
        <p>{page.problem}</p>
      </EmptyMessage>
    )
  if (total === 0)
    return (
      <EmptyMessage
        title={atRef === undefined ? 'No conversation' : 'No conversation at this point'}
      >
        <p>
          Sessions of coding agents with installed hooks have one, and so have sessions of programs
          that save their <code>messages</code> with the SDK. Checkpoints made by hand, by{' '}
          <code>savestate run</code> or by <code>savestate watch</code> have files only.
        </p>
      </EmptyMessage>
    )
  return <LoadedConversation page={page} total={total} atRef={atRef} startAt={startAt} />
}

function LoadedConversation(props: {
  readonly page: SessionPage
  readonly total: number
  readonly atRef: string | undefined
  readonly startAt: number | undefined
}): VNode {
  const { page, total, atRef, startAt } = props
  const { id } = page.session
  const [data, setData] = useState<ConversationData>()
  const positions = useMemo(() => checkpointsByPosition(page, total), [page, total])
  const prompts = useMemo(() => promptsOf(positions), [positions])
  const [top, setTop] = useState(0)
  const jump = useRef<((index: number) => Promise<void>) | undefined>(undefined)
  useEffect(() => {
    if (data !== undefined && total > data.total) {
      void data.grow(total)
      return
    }
    if (data !== undefined && total === data.total) return
    // The first time, or the conversation became shorter by a rewind.
    // A checkpoint of the current conversation has its first items; the others need the state of the checkpoint.
    const isCurrent = positions.get(total)?.some((one) => one.id === atRef) === true
    const point = atRef === undefined || isCurrent ? { session: id } : { session: id, ref: atRef }
    const next = new ConversationData(point, total)
    let isGone = false
    // The list begins with its last items on the screen, not with placeholders.
    void next.ensure(total - 30, total).then(() => {
      if (!isGone) setData(next)
    })
    return () => {
      isGone = true
    }
  }, [total])
  if (data === undefined) return <Loading what="the conversation" />
  return (
    <div class="conversation">
      <Outline
        prompts={prompts}
        top={top}
        onSelect={(index) => {
          void jump.current?.(index)
        }}
      >
        <SecretsSwitch data={data} />
      </Outline>
      <Feed
        data={data}
        agent={page.session.agent ?? 'agent'}
        positions={positions}
        prompts={prompts}
        startAt={startAt}
        onTop={setTop}
        onReady={(given) => {
          jump.current = given
        }}
      />
    </div>
  )
}

/** Never on pages for others to read. */
function SecretsSwitch({ data }: { readonly data: ConversationData }): VNode | null {
  const { isReadOnly = true, isExport = true } = start.value ?? {}
  const [isShown, setShown] = useState(data.reveal)
  if (isReadOnly || isExport || !data.hasSecrets.value) return null
  return (
    <label class="secrets">
      <input
        type="checkbox"
        checked={isShown}
        onChange={({ currentTarget }) => {
          setShown(currentTarget.checked)
          data.setReveal(currentTarget.checked)
        }}
      />{' '}
      show secrets
    </label>
  )
}
