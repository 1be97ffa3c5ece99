import type { VNode } from 'preact'
import { Dialog } from '../components/dialog.js'

export function ForkDialog(props: { readonly ref: string; readonly onClose: () => void }): VNode {
  return (
    <Dialog name="fork" title="Fork" onClose={props.onClose}>
      {props.ref}
    </Dialog>
  )
}
