// A text that the server may have cut: `show more` loads the next piece of it.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { start } from '../../app/model.js'
import { RequestError } from '../../app/transport.js'
import { ErrorMessage } from '../../components/states.js'
import type { ConversationData, PartOf } from './conversation-data.js'

export type ItemText = PartOf<'result'>['text']

export function LongText(props: {
  readonly data: ConversationData
  readonly index: number
  /** The place of the part in its item. */
  readonly part: number
  readonly text: ItemText
  readonly children: (text: string) => VNode
}): VNode {
  const { data, index, part, text, children } = props
  const [error, setError] = useState<RequestError>()
  const pieces = data.piecesOf(index, part)
  const whole = pieces === undefined ? text.text : text.text + pieces.text
  const restLength = pieces?.restLength ?? text.restLength
  const canLoad = start.value?.isExport === false
  return (
    <>
      {children(whole)}
      {restLength === 0 ? null : (
        <p class="rest">
          {canLoad ? (
            <button
              type="button"
              class="text-button"
              onClick={() => {
                data.more(index, part, whole.length).catch((reason: unknown) => {
                  if (!(reason instanceof RequestError)) throw reason
                  setError(reason)
                })
              }}
            >
              show more
            </button>
          ) : null}{' '}
          <span class="muted">{restLength.toLocaleString('en')} characters are not shown</span>
        </p>
      )}
      {error === undefined ? null : <ErrorMessage error={error} />}
    </>
  )
}
