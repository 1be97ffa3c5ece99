// Finds the folders that contain another path of the same list.
import { parsePathText } from '../../internal.js'

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
