// The title of the window and the focus after a navigation: a screen reader hears where it is.
import { isFieldFocused } from './keys.js'
import type { View } from './router.js'

const TITLES: Readonly<Record<View, string>> = {
  timeline: 'Timeline',
  checkpoint: 'Checkpoint',
  sessions: 'Sessions',
  session: 'Session',
  compare: 'Compare',
  file: 'File history',
  search: 'Search',
  store: 'Store',
  unknown: 'No such page',
}

export function titleOfView(view: View, folder: string): string {
  return [TITLES[view], folder, 'Savestate'].filter((word) => word !== '').join(' · ')
}

export function nameOfFolder(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? path
}

/** `/home/ann/app` as `~/app`. The browser does not know the home folder, so only the usual ones are shortened. */
export function shortenHome(path: string): string {
  return path.replace(/^(?:\/(?:home|Users)\/[^/]+|\/root|[A-Z]:\\Users\\[^\\]+)(?=[/\\]|$)/, '~')
}

/** How long a view may load before its heading gets no focus any more. */
const HEADING_MS = 3000
let isFirst = true

/**
 * Moves the focus to the heading of the new view, as soon as it exists. Does nothing at the first load, while a field has the
 * focus, and if a view has moved the focus itself. Returns how to stop waiting.
 */
export function focusView(): (() => void) | undefined {
  if (isFirst) {
    isFirst = false
    return undefined
  }
  const main = document.getElementById('main')
  if (main === null || isInside(main) || isFieldFocused()) return undefined
  main.focus()
  if (focusHeading(main)) return undefined
  const observer = new MutationObserver(() => {
    if (document.activeElement !== main || focusHeading(main)) observer.disconnect()
  })
  observer.observe(main, { childList: true, subtree: true })
  const timer = window.setTimeout(() => observer.disconnect(), HEADING_MS)
  return () => {
    window.clearTimeout(timer)
    observer.disconnect()
  }
}

function isInside(main: HTMLElement): boolean {
  const { activeElement } = document
  return activeElement !== main && main.contains(activeElement)
}

function focusHeading(main: HTMLElement): boolean {
  const heading = main.querySelector<HTMLElement>('h1')
  if (heading === null) return false
  heading.tabIndex = -1
  heading.focus()
  return true
}
