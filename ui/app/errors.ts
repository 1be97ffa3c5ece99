// Errors that no view has handled. They are shown in a bar: a silent failure would pass for success.
import { signal } from '@preact/signals'
import { connection } from './model.js'
import { RequestError } from './transport.js'

export type PageError = { readonly message: string; readonly hint: string | null }

/** The newest one; undefined after the user has closed the bar. */
export const pageError = signal<PageError | undefined>(undefined)

export function reportError(error: unknown): void {
  // The request was canceled because its view is gone.
  if (error instanceof DOMException && error.name === 'AbortError') return
  if (error instanceof RequestError) {
    // The bar for a server that has ended says it already.
    if (error.code === 'SERVER_GONE') connection.value = 'gone'
    else pageError.value = { message: error.message, hint: error.hint }
    return
  }
  const message = error instanceof Error ? error.message : String(error)
  pageError.value = {
    message: `The page has failed: ${message}`,
    hint: 'Reload it. If that does not help, please report it.',
  }
}

export function listenToErrors(): void {
  window.addEventListener('error', ({ error, message }) => reportError(error ?? message))
  window.addEventListener('unhandledrejection', ({ reason }) => reportError(reason))
}
