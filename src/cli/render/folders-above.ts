// Which paths have another one of the same list below them.
import { parsePathText } from '../../internal.js'

/** Tells whether something listed lies below a path. */
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
