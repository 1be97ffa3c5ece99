// Lists the keyboard shortcuts of the current view and of the frame.
import type { VNode } from 'preact'
import { shortcuts } from '../app/keys.js'
import { Dialog } from '../components/dialog.js'

const NAMES: Readonly<Record<string, string>> = {
  ' ': 'Space',
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  PageDown: 'Page ↓',
  PageUp: 'Page ↑',
}

export function KeysDialog({ onClose }: { readonly onClose: () => void }): VNode {
  // Several keys may do the same.
  const keysOf = new Map<string, string[]>()
  for (const { key, label } of shortcuts.value.flat())
    keysOf.set(label, [...(keysOf.get(label) ?? []), key])
  return (
    <Dialog name="keys" title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys-list">
        {[...keysOf].map(([label, keys]) => (
          <div key={label}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{NAMES[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
