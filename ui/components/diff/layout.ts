// Whether diffs are shown unified or split, and whether long lines are wrapped. The choices stay in this browser; without one, the width
// of the window decides about the layout, and lines are not wrapped.
import { computed, signal } from '@preact/signals'
import { isPrinting } from '../../app/printing.js'

export type Layout = 'unified' | 'split'
const KEY = 'savestate-diff'

const stored = localStorage.getItem(KEY)
const chosen = signal<Layout | undefined>(
  stored === 'unified' || stored === 'split' ? stored : undefined,
)

/** A signal that says whether the media query matches. */
function matches(query: string): { readonly value: boolean } {
  const list = window.matchMedia(query)
  const isMatching = signal(list.matches)
  list.addEventListener('change', () => {
    isMatching.value = list.matches
  })
  return isMatching
}
const isWide = matches('(min-width: 1200px)')
/** Two columns of code are readable. */
export const canSplit = matches('(min-width: 700px)')

export const layout = computed<Layout>(() => {
  // On paper long lines wrap, and two sides would not stay beside each other.
  if (!canSplit.value || isPrinting.value) return 'unified'
  return chosen.value ?? (isWide.value ? 'split' : 'unified')
})

export function chooseLayout(next: Layout): void {
  chosen.value = next
  localStorage.setItem(KEY, next)
}

const WRAP_KEY = 'savestate-wrap'
export const wrapsLines = signal(localStorage.getItem(WRAP_KEY) === 'true')

export function toggleWrap(): void {
  wrapsLines.value = !wrapsLines.peek()
  localStorage.setItem(WRAP_KEY, String(wrapsLines.peek()))
}
