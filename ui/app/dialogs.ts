// Which dialog is open. Any view opens one; the frame shows it.
import { signal } from '@preact/signals'

export type RestoreRequest =
  | {
      readonly kind: 'rewind'
      readonly ref: string
      readonly before?: boolean
      readonly restore?: 'files' | 'conversation' | 'both'
      /** Only these paths are selected at first. */
      readonly paths?: readonly string[]
    }
  | { readonly kind: 'undoStep'; readonly ref: string }
  | { readonly kind: 'undo' | 'redo' }

export type OpenDialog =
  | { readonly dialog: 'restore'; readonly request: RestoreRequest }
  | { readonly dialog: 'keys' }
  | { readonly dialog: 'name'; readonly ref: string }
  | { readonly dialog: 'fork'; readonly ref: string }

export const openDialog = signal<OpenDialog | undefined>(undefined)

// Back and Forward show another view: a dialog above it would be about something else.
window.addEventListener('popstate', () => {
  openDialog.value = undefined
})

export function openRestore(request: RestoreRequest): void {
  openDialog.value = { dialog: 'restore', request }
}

/** The bar after a restore; it stays until the user closes it, restores again, or it cannot be undone any more. */
export type Notice = {
  readonly text: string
  /** A command to continue the conversation. */
  readonly command: string | null
  /** When the rewind was made that its Undo takes back; null if it has none. */
  readonly rewoundAt: string | null
}
export const notice = signal<Notice | undefined>(undefined)
