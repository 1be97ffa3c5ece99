// The conversation of a subagent below the call that started it. It is read from the agent's own file when it is opened, and again
// while it is open: no event reports what a subagent reads or says.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { connection } from '../../app/model.js'
import { ErrorMessage, Loading } from '../../components/states.js'
import type { ConversationData } from './conversation-data.js'
import { ItemContent } from './item.js'

const FIRST = 50
const MORE = 200
const FOLLOW_MS = 2000

type SubagentProps = {
  readonly data: ConversationData
  /** The id of the call. */
  readonly call: string
  readonly agent: string
}

/** Nothing if the call has started none. */
export function Subagent({ data, call, agent }: SubagentProps): VNode | null {
  if (!data.hasSubagent(call)) return null
  const key = `subagent ${call}`
  const isOpen = data.isToggled(key)
  return (
    <div class="subagent">
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => data.toggle(key)}>
        <span class="fold-title">subagent</span>
        <span class="muted">its conversation</span>
      </button>
      {isOpen ? <SubagentItems data={data.subagent(call)} agent={agent} /> : null}
    </div>
  )
}

function SubagentItems(props: { readonly data: ConversationData; readonly agent: string }): VNode {
  const { data, agent } = props
  const version = data.version.value
  const [most, setMost] = useState(FIRST)
  const isLive = connection.value === 'live'
  useEffect(() => {
    if (data.total === 0) void data.follow(most - 1)
    else void data.ensure(0, most - 1)
  }, [data, most, data.reveal])
  useEffect(() => {
    if (!isLive) return undefined
    const timer = window.setInterval(() => {
      if (document.visibilityState === 'visible') void data.follow(most - 1)
    }, FOLLOW_MS)
    return () => window.clearInterval(timer)
  }, [data, most, isLive])
  const error = data.error.value
  if (error !== undefined) return <ErrorMessage error={error} />
  if (version === 0) return <Loading what="the conversation of the subagent" />
  if (data.total === 0)
    return (
      <p class="muted">
        There is nothing to show: no file on this machine has the conversation of this subagent, or
        nothing is in it yet.
      </p>
    )
  const indexes = Array.from({ length: Math.min(most, data.total) }, (_, index) => index)
  return (
    <>
      {indexes.map((index) => {
        const item = data.item(index)
        if (item === undefined || data.isHidden(index)) return null
        return <ItemContent key={index} data={data} item={item} agent={agent} />
      })}
      {data.total > most ? (
        <button type="button" class="text-button" onClick={() => setMost(most + MORE)}>
          show more of the subagent
        </button>
      ) : null}
    </>
  )
}
