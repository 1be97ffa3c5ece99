// The chosen row, the scroll position and the folds of the timeline. They are kept while another view is shown, so that Back leads to the same row.
import { signal } from '@preact/signals'
import type { Folds } from './lines.js'

export const folds = signal<Folds>(new Map())
/** The key of the row that has the focus, or had it last. */
export const activeKey = signal<string | undefined>(undefined)
/** Not a signal: nothing is drawn from it. */
export const kept = { scrollTop: 0, project: '' }

/** Another project has other rows. */
export function resetFor(project: string): void {
  if (kept.project === project) return
  kept.project = project
  kept.scrollTop = 0
  folds.value = new Map()
  activeKey.value = undefined
}

export function setFold([key, fold]: readonly [string, 'open' | 'closed' | undefined]): void {
  const changed = new Map(folds.peek())
  if (fold === undefined) changed.delete(key)
  else changed.set(key, fold)
  folds.value = changed
}
