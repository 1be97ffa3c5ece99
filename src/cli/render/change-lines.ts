// Changed files as lines.
import { type ChangeView, parsePathText } from '../../internal.js'
import { formatNumber } from '../terminal/format-numbers.js'
import type { Color } from '../terminal/colors.js'
import { displayPath } from '../terminal/escape.js'

/** Leaves out a folder if a change inside it is listed. */
export function listedChanges(changes: readonly ChangeView[]): readonly ChangeView[] {
  const isNeeded = hasListedBelow(changes)
  return changes.filter(
    ({ type, change, path }) => type !== 'folder' || change === 'mode' || !isNeeded(path),
  )
}

export function formatChange({ path, type, change, ...rest }: ChangeView): string {
  const name = `${displayPath(path)}${type === 'folder' && path !== '' ? '/' : ''}`
  if (change === 'mode') return `${name}  mode ${rest.modeBefore} → ${rest.modeAfter}`
  if (type === 'folder') return name
  if (rest.insertions === null || rest.deletions === null) return `${name}  binary`
  return `${name}  +${formatNumber(rest.insertions)} −${formatNumber(rest.deletions)}`
}

export const COLOR_OF: Readonly<Record<ChangeView['change'], Color>> = {
  added: 'green',
  removed: 'red',
  modified: 'yellow',
  type: 'yellow',
  mode: 'yellow',
}

/** Changes that a git patch does not show: permissions other than 0644 and 0755, and folders without files. */
export function unseenByGit(changes: readonly ChangeView[]): string[] {
  return listedChanges(changes).flatMap((view) => {
    const { path, type, change, modeBefore, modeAfter } = view
    const name = displayPath(path)
    if (type === 'folder' && (change === 'added' || change === 'removed'))
      return [`folder ${change}: ${name}/`]
    const isModeChange = modeBefore !== null && modeAfter !== null && modeBefore !== modeAfter
    const isSeen = type === 'file' && isUsual(modeBefore) && isUsual(modeAfter)
    return isModeChange && !isSeen ? [`mode ${modeBefore} → ${modeAfter}: ${name}`] : []
  })
}

function isUsual(mode: string | null): boolean {
  return mode === '0644' || mode === '0755'
}

/** The returned function says whether a listed path is below the given one. */
export function hasListedBelow(
  items: readonly { readonly path: string }[],
): (path: string) => boolean {
  const folders = new Set<string>()
  for (const { path } of items) {
    const bytes: string = parsePathText(path)
    for (let end = bytes.lastIndexOf('/'); end > 0; end = bytes.lastIndexOf('/', end - 1)) {
      const folder = bytes.slice(0, end)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  return (path) => folders.has(parsePathText(path))
}
