// The button that wraps long lines, and its key.
import type { VNode } from 'preact'
import { useShortcuts } from '../../app/keys.js'
import { toggleWrap, wrapsLines } from './layout.js'

export function WrapChoice(): VNode {
  useShortcuts([{ key: 'w', label: 'Wrap long lines', run: toggleWrap }], [])
  return (
    <span class="choice">
      <button type="button" aria-pressed={wrapsLines.value} onClick={toggleWrap}>
        Wrap
      </button>
    </span>
  )
}
