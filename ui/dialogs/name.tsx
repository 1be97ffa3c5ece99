// Gives a checkpoint a name, or removes it.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { project, replaceRow, rowOf } from '../app/model.js'
import { call, RequestError } from '../app/transport.js'
import { Dialog } from '../components/dialog.js'
import { Line } from '../components/text.js'

export function NameDialog(props: {
  readonly checkpoint: string
  readonly onClose: () => void
}): VNode {
  const { checkpoint: ref, onClose } = props
  const row = rowOf.value.get(ref)
  const [name, setName] = useState(row?.name ?? '')
  const [error, setError] = useState<RequestError | undefined>(undefined)
  const [isSending, setSending] = useState(false)
  const save = async (wanted: string | null) => {
    setSending(true)
    try {
      replaceRow(await call('name', { project: project.peek(), ref, name: wanted }))
      onClose()
    } catch (caught) {
      if (!(caught instanceof RequestError)) throw caught
      setError(caught)
    } finally {
      setSending(false)
    }
  }
  return (
    <Dialog name="name" title="Name the checkpoint" onClose={onClose}>
      <form
        class="name-form"
        onSubmit={(event) => {
          event.preventDefault()
          void save(name.trim() === '' ? null : name.trim())
        }}
      >
        <p class="muted">{row?.reason ? <Line text={row.reason} /> : ref}</p>
        <label>
          Name
          <input
            class="input"
            value={name}
            maxLength={100}
            autoFocus
            aria-describedby="name-error"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <p id="name-error" class="name-error" role="alert">
          {error === undefined ? '' : `${error.message}. ${error.hint ?? ''}`}
        </p>
        <div class="dialog-buttons">
          {(row?.name ?? null) === null ? null : (
            <button
              type="button"
              class="button"
              data-kind="plain"
              disabled={isSending}
              onClick={() => void save(null)}
            >
              Remove the name
            </button>
          )}
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button" data-kind="primary" disabled={isSending}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  )
}
