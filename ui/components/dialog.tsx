// A modal dialog of the browser: it keeps the focus inside and returns it afterwards.
import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

export function Dialog(props: {
  /** For tests and styles. */
  readonly name: string
  readonly title: ComponentChildren
  readonly onClose: () => void
  readonly children: ComponentChildren
}): VNode {
  const ref = useRef<HTMLDialogElement>(null)
  const isPressedOutside = useRef(false)
  // Before the next key: an effect without layout would return the focus a frame later.
  useLayoutEffect(() => {
    const opener = document.activeElement
    const dialog = ref.current
    dialog?.showModal()
    return () => {
      dialog?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      data-dialog={props.name}
      aria-labelledby={`${props.name}-title`}
      onCancel={(event) => {
        event.preventDefault()
        props.onClose()
      }}
      onClose={() => {
        // The browser closes a dialog at the second Escape even if the first one was refused.
        if (ref.current === null) return
        props.onClose()
        window.requestAnimationFrame(() => {
          if (ref.current?.open === false) ref.current.showModal()
        })
      }}
      onPointerDown={({ target }) => {
        isPressedOutside.current = target === ref.current
      }}
      onClick={({ target }) => {
        // A click on the backdrop has the dialog itself as its target, and so has a selection of text that ends there.
        if (target === ref.current && isPressedOutside.current) props.onClose()
      }}
    >
      <div class="dialog-body">
        <h2 id={`${props.name}-title`}>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  )
}
