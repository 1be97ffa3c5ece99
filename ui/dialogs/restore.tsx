import type { VNode } from 'preact'
import type { RestoreRequest } from '../app/dialogs.js'
import { Dialog } from '../components/dialog.js'

export function RestoreDialog(props: {
  readonly request: RestoreRequest
  readonly onClose: () => void
}): VNode {
  return (
    <Dialog name="restore" title="Restore" onClose={props.onClose}>
      {props.request.kind}
    </Dialog>
  )
}
