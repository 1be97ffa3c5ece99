// The content of a file that is proven clean, out of the user's packs.
import { type BigIntStats, lstatSync } from 'node:fs'
import { fsPath, hasCode, type ObjectId } from '../../model/index.js'
import { isSettled, isUnreadable } from '../capture/stats.js'
import { type EntryPlace, idIn, isAsEntry } from './index-entry.js'
import { UserPacks } from './user-packs.js'

/** Valid until the next is taken. */
export type CleanContent = {
  readonly id: ObjectId
  readonly content: Buffer
  /** Its pack entry, if that can be used as it is. */
  readonly entry: Buffer | undefined
  readonly stats: BigIntStats
  readonly readAtMs: number
}

const LSTAT = { bigint: true, throwIfNoEntry: false } as const

export class CleanContents {
  readonly #packs = new Map<string, UserPacks>()

  /** Undefined if the file is not surely what the entry of the index says, or no pack has that. */
  take(
    path: string,
    from: EntryPlace & { readonly objects: string; readonly largeBytes: number },
  ): CleanContent | undefined {
    const readAtMs = Date.now()
    const stats = lstatOrNothing(path)
    if (stats === undefined || !isAsEntry(stats, from)) return undefined
    if (stats.size >= from.largeBytes || !isSettled(stats, readAtMs)) return undefined
    const id = idIn(from)
    const blob = this.#packsOf(from.objects).read(id, Number(stats.size))
    return blob === undefined ? undefined : { id, ...blob, stats, readAtMs }
  }

  close(): void {
    for (const packs of this.#packs.values()) packs.close()
    this.#packs.clear()
  }

  #packsOf(objects: string): UserPacks {
    let packs = this.#packs.get(objects)
    if (packs === undefined) {
      packs = UserPacks.open(objects)
      this.#packs.set(objects, packs)
    }
    return packs
  }
}

/** Why it cannot be looked at is found out when it is read. */
function lstatOrNothing(path: string): BigIntStats | undefined {
  try {
    return lstatSync(fsPath(path), LSTAT)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR') || isUnreadable(error)) return undefined
    throw error
  }
}
