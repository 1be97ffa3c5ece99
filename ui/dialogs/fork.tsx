// Continues from a checkpoint beside the original: a new session of Savestate, or a copy of an agent's conversation.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../src/ui/api.js'
import { project, refresh, rowOf, start } from '../app/model.js'
import { addressOf, followLink, sessionPath } from '../app/router.js'
import { call, RequestError } from '../app/transport.js'
import { Command } from '../components/command.js'
import { Dialog } from '../components/dialog.js'
import { ErrorMessage } from '../components/states.js'
import { Line } from '../components/text.js'
import { quoteRow } from './restore/words.js'

export function ForkDialog(props: { readonly ref: string; readonly onClose: () => void }): VNode {
  const { ref, onClose } = props
  const row = rowOf.value.get(ref)
  const agent = row?.moment === null ? null : (row?.sessionAgent ?? null)
  const [name, setName] = useState('')
  const [made, setMade] = useState<Output<'fork'> | undefined>(undefined)
  const [error, setError] = useState<RequestError | undefined>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const fork = async () => {
    setIsBusy(true)
    setError(undefined)
    const session = name.trim()
    try {
      const answer = await call('fork', {
        project: project.peek(),
        ref,
        ...(session === '' ? {} : { session }),
      })
      setMade(answer)
      void refresh()
    } catch (reason) {
      if (!(reason instanceof RequestError)) throw reason
      setError(reason)
    } finally {
      setIsBusy(false)
    }
  }
  const from = row === undefined ? ref.slice(0, 8) : quoteRow(row)
  return (
    <Dialog name="fork" title={`Fork from ${from}`} onClose={onClose}>
      {made === undefined ? (
        <form
          class="fork"
          onSubmit={(event) => {
            event.preventDefault()
            void fork()
          }}
        >
          {agent === null ? (
            <>
              <p>
                A new session starts at this checkpoint, with its state. The old session stays as it
                is.
              </p>
              <label class="fork-name">
                <span>Name of the new session</span>
                <input
                  class="input"
                  autofocus
                  value={name}
                  maxLength={200}
                  placeholder={
                    row?.session === null || row === undefined ? 'fork-1' : `${row.session}-fork-1`
                  }
                  onInput={(event) => setName(event.currentTarget.value)}
                />
              </label>
            </>
          ) : (
            <p tabIndex={-1} autofocus>
              Savestate copies the conversation of <Line text={agent} /> up to this point and gives
              you the command that continues the copy. The original conversation and all files stay
              as they are.
            </p>
          )}
          {error === undefined ? null : <ErrorMessage error={error} />}
          <Buttons
            isBusy={isBusy}
            onClose={onClose}
            label={agent === null ? 'Fork' : 'Copy the conversation'}
          />
        </form>
      ) : (
        <div class="fork" role="status">
          {made.session === null ? (
            <p>The copy of the conversation is there.</p>
          ) : (
            <p>
              The session{' '}
              <a
                href={addressOf(sessionPath(made.session))}
                onClick={(event) => {
                  followLink(event)
                  onClose()
                }}
              >
                <Line text={made.session} />
              </a>{' '}
              is there.
            </p>
          )}
          {made.command === null ? null : (
            <p class="restore-command">
              <span class="muted">Continue it in a terminal:</span> <Command text={made.command} />
            </p>
          )}
          <footer class="restore-footer">
            <button type="button" class="button" data-kind="primary" onClick={onClose}>
              Done
            </button>
          </footer>
        </div>
      )}
    </Dialog>
  )
}

function Buttons(props: {
  readonly isBusy: boolean
  readonly label: string
  readonly onClose: () => void
}): VNode {
  const isReadOnly = start.value?.isReadOnly === true
  return (
    <footer class="restore-footer">
      {isReadOnly ? <p class="muted">This page is read-only.</p> : null}
      <button type="button" class="button" onClick={props.onClose}>
        Cancel
      </button>
      {isReadOnly ? null : (
        <button type="submit" class="button" data-kind="primary" disabled={props.isBusy}>
          {props.isBusy ? 'Forking …' : props.label}
        </button>
      )}
    </footer>
  )
}
