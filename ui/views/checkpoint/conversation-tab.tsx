// The conversation as it was at this checkpoint. Its list is a part of the session view and is loaded with the first use.
import type { VNode } from 'preact'
import { lazy } from '../../app/lazy.js'
import { rowOf } from '../../app/model.js'
import { route } from '../../app/router.js'
import { EmptyMessage } from '../../components/states.js'

export const AtThisPoint = lazy(async () => {
  const { ConversationList } = await import('../session/conversation.js')
  return function Conversation(): VNode {
    const { id } = route.value
    const session = rowOf.value.get(id)?.session ?? null
    return session === null ? (
      <EmptyMessage title="This checkpoint has no conversation" />
    ) : (
      <ConversationList session={session} ref={id} />
    )
  }
})
