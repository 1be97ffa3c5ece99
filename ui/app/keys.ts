// Keyboard shortcuts. Each view adds its own while it is shown; `?` lists all of them.
import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

export type Shortcut = {
  /** As in KeyboardEvent.key: `j`, `Enter`, `/`. */
  readonly key: string
  readonly label: string
  readonly run: (event: KeyboardEvent) => void
}

export const shortcuts = signal<readonly (readonly Shortcut[])[]>([])

/** Adds shortcuts while the component is mounted. Those of the newest component are tried first. */
export function useShortcuts(added: readonly Shortcut[], changes: readonly unknown[]): void {
  useLayoutEffect(() => {
    shortcuts.value = [added, ...shortcuts.peek()]
    return () => {
      shortcuts.value = shortcuts.peek().filter((one) => one !== added)
    }
  }, changes)
}

const EDITABLE = 'input, textarea, select, [contenteditable]'

/** The user may be typing: the focus must stay where it is. */
export function isFieldFocused(): boolean {
  return document.activeElement?.matches(EDITABLE) === true
}

export function listenToKeys(): void {
  window.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
    const { target } = event
    if (target instanceof Element && target.matches(EDITABLE)) return
    // A dialog has its own keys.
    if (document.querySelector('dialog[open]') !== null) return
    // Enter and Space press the focused button or link.
    if (
      (event.key === 'Enter' || event.key === ' ') &&
      target instanceof Element &&
      target.matches('a, button, summary')
    )
      return
    const found = shortcuts
      .peek()
      .flat()
      .find(({ key }) => key === event.key)
    if (found === undefined) return
    event.preventDefault()
    found.run(event)
  })
}
