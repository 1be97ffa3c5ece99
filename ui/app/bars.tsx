// The bars under the header: the server has ended, an error, what a restore did.
import type { ComponentChildren, VNode } from 'preact'
import { Command } from '../components/command.js'
import { notice, openRestore } from './dialogs.js'
import { pageError } from './errors.js'
import { connection, start, startError } from './model.js'

export function Bars(): VNode {
  return (
    <div class="bars">
      <ServerBar />
      <ErrorBar />
      <NoticeBar />
    </div>
  )
}

function ServerBar(): VNode | null {
  const error = startError.value
  if (error?.code === 'NO_TOKEN')
    return (
      <Bar name="token" kind="warn">
        <p>
          <strong>{error.message}.</strong> {error.hint}
        </p>
      </Bar>
    )
  if (connection.value === 'refused')
    return (
      <Bar name="token" kind="warn">
        <p>
          <strong>Savestate was started again.</strong> Open the address that{' '}
          <code>savestate ui</code> printed in the terminal.
        </p>
      </Bar>
    )
  if (connection.value !== 'gone') return null
  return (
    <Bar name="gone" kind="warn">
      <p>
        <strong>Savestate does not answer.</strong>{' '}
        {start.value === undefined ? '' : 'What is loaded stays readable. '}Start it again in the
        terminal: <Command text="savestate ui" />
      </p>
    </Bar>
  )
}

function ErrorBar(): VNode | null {
  const error = pageError.value
  if (error === undefined) return null
  return (
    <Bar name="error" kind="error">
      <p>
        <strong>{error.message}.</strong> {error.hint}
      </p>
      <CloseButton onClick={() => (pageError.value = undefined)} />
    </Bar>
  )
}

function NoticeBar(): VNode | null {
  const shown = notice.value
  if (shown === undefined) return null
  return (
    <Bar name="undo" kind="ok">
      <p>
        {shown.text}
        {shown.command === null ? null : (
          <>
            {' '}
            To continue the conversation: <Command text={shown.command} />
          </>
        )}
      </p>
      {shown.rewoundAt !== null && start.value?.isReadOnly !== true ? (
        <button type="button" class="button" onClick={() => openRestore({ kind: 'undo' })}>
          Undo
        </button>
      ) : null}
      <CloseButton onClick={() => (notice.value = undefined)} />
    </Bar>
  )
}

function Bar(props: {
  readonly name: string
  readonly kind: 'ok' | 'warn' | 'error'
  readonly children: ComponentChildren
}): VNode {
  const role = props.kind === 'ok' ? 'status' : 'alert'
  return (
    <div class="bar" role={role} data-bar={props.name} data-kind={props.kind}>
      {props.children}
    </div>
  )
}

function CloseButton({ onClick }: { readonly onClick: () => void }): VNode {
  return (
    <button type="button" class="button" data-kind="plain" onClick={onClick}>
      Close
    </button>
  )
}
