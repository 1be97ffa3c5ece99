// On paper, a list that is too long ends with a sentence that says so.
import type { VNode } from 'preact'
import { isPrinting, MAX_PRINTED } from '../app/printing.js'
import { count } from './text.js'

export function PrintLimit({ rows }: { readonly rows: number }): VNode | null {
  if (!isPrinting.value || rows <= MAX_PRINTED) return null
  return (
    <p class="print-note">
      Only the first {count(MAX_PRINTED, 'line')} of {rows.toLocaleString('en')} are printed.
    </p>
  )
}
