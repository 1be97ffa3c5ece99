// Whether a path is, at this moment, what the safety checkpoint holds: the last look before it is
// overwritten or removed (I3).
import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs'
import { type BytePath, type Entry, hasCode } from '../../model/index.js'
import { type FolderNode, findNode } from '../capture/node.js'
import { readStable } from '../capture/read-file.js'
import { isSameStamp } from '../capture/stats.js'
import { objectIdOf } from '../objects/object-id.js'

const MODE_BITS = 0o7777

/** `place` leads to the path without following a link. */
export type StillThere = (
  path: BytePath,
  from: Entry | undefined,
  place: string | Buffer,
) => boolean

export function stillThereIn(root: FolderNode): StillThere {
  return (path, from, place) => {
    const stats = look(place)
    if (from === undefined) return stats === undefined
    if (stats === undefined) return false
    // A folder is removed only when empty, and never overwritten: its type is all that matters.
    if (from.type === 'folder') return stats.isDirectory()
    const node = findNode(root, path)
    if (node === undefined || node.kind !== from.type) return false
    if (node.settled && isSameStamp(node, stats)) return true
    // Another stamp need not be another content: all names of a file have one, and we may just have removed one of them.
    return (
      node.size === Number(stats.size) &&
      isAs(from, stats) &&
      contentIdOf(place, stats) === from.blob
    )
  }
}

function isAs(from: Entry, stats: BigIntStats): boolean {
  if (from.type === 'link') return stats.isSymbolicLink()
  return stats.isFile() && (Number(stats.mode) & MODE_BITS) === from.mode
}

function look(place: string | Buffer): BigIntStats | undefined {
  try {
    return lstatSync(place, { bigint: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

function contentIdOf(place: string | Buffer, stats: BigIntStats): string | undefined {
  if (stats.isSymbolicLink()) return objectIdOf('blob', readlinkSync(place, { encoding: 'buffer' }))
  const read = readStable(typeof place === 'string' ? place : place.toString('latin1'))
  return typeof read === 'string' ? undefined : objectIdOf('blob', read.content)
}
