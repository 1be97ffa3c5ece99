// The visible rows of a folder tree. Folders are loaded one by one, when they are opened.
import type { Output } from '../../../src/ui/api.js'

type Listing = Output<'folder'>

export type Node = {
  readonly path: string
  readonly name: string
  /** From 1. */
  readonly level: number
  readonly type: 'file' | 'folder' | 'link' | 'skipped'
  readonly sizeBytes: number | null
  /** For a skipped entry: why the checkpoint does not have it. */
  readonly reason: Listing['skipped'][number]['reason'] | undefined
  readonly isOpen: boolean
}

export const joinPath = (folder: string, name: string): string =>
  folder === '' ? name : `${folder}/${name}`

export const parentPath = (path: string): string =>
  path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** All folders above a path: `a` and `a/b` for `a/b/c`. */
export function foldersAbove(path: string): readonly string[] {
  const parent = parentPath(path)
  return parent === '' ? [] : [...foldersAbove(parent), parent]
}

export function visibleNodes(
  listings: ReadonlyMap<string, Listing>,
  open: ReadonlySet<string>,
): readonly Node[] {
  const nodes: Node[] = []
  const add = (folder: string, level: number) => {
    const listing = listings.get(folder)
    if (listing === undefined) return
    for (const { name, type, sizeBytes } of listing.entries) {
      const path = joinPath(folder, name)
      const isOpen = type === 'folder' && open.has(path)
      nodes.push({ path, name, level, type, sizeBytes, reason: undefined, isOpen })
      if (isOpen) add(path, level + 1)
    }
    for (const { name, reason, sizeBytes } of listing.skipped)
      nodes.push({
        path: joinPath(folder, name),
        name,
        level,
        type: 'skipped',
        sizeBytes,
        reason,
        isOpen: false,
      })
  }
  add('', 1)
  return nodes
}
