// Keeps the bar after a restore when the page is loaded again: its Undo and the command for the conversation are shown nowhere else.
import { effect, type ReadonlySignal } from '@preact/signals'
import { type Notice, notice } from './dialogs.js'

const KEY = 'savestate-notice'

type Kept = { readonly project: string; readonly notice: Notice }

/** Called once, with the first project. The first scan of the folder removes an Undo that is not the last rewind any more. */
export function keepNotice(project: ReadonlySignal<string>): void {
  const kept = readKept()
  if (kept?.project === project.peek()) notice.value ??= kept.notice
  effect(() => {
    const shown = notice.value
    if (shown === undefined) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, JSON.stringify({ project: project.value, notice: shown }))
  })
}

function readKept(): Kept | undefined {
  const text = sessionStorage.getItem(KEY)
  return text === null ? undefined : (JSON.parse(text) as Kept)
}
