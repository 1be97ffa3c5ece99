// Whether the page is being printed. On the screen, lists have only their visible rows in the document; on paper, all that are loaded.
import { signal } from '@preact/signals'

export const isPrinting = signal(false)

/** Rows of a list on paper, about 40 pages. More would take a browser minutes. */
export const MAX_PRINTED = 2000

export function listenToPrinting(): void {
  const media = window.matchMedia('print')
  isPrinting.value = media.matches
  // Preact draws in a microtask, so the rows are in the document when the browser lays out the pages.
  media.addEventListener('change', () => {
    isPrinting.value = media.matches
  })
  window.addEventListener('beforeprint', () => {
    isPrinting.value = true
  })
  window.addEventListener('afterprint', () => {
    isPrinting.value = false
  })
}
