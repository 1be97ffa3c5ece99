// What the store holds of its objects, damaged parts included: each is asked for by its name, and an answer is given
// only if the bytes are those of the name.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ObjectId } from '../../model/index.js'
import { loosePath } from '../objects/loose.js'
import { isLooseWhole, looseFiles, readLoose } from './object-files.js'
import type { ObjectContent } from './pack-file.js'
import { openPacks, type Packs } from './packs.js'

export type CheckCounter = {
  /** One file or tree more. */
  readonly one: () => void
  readonly bytes: (count: number) => void
}

export class ObjectLibrary {
  readonly #folder: string
  readonly packs: Packs
  readonly loose: ReturnType<typeof looseFiles>
  readonly damagedLoose = new Set<ObjectId>()
  readonly #looseIds: ReadonlySet<ObjectId>

  constructor(
    folder: string,
    options: { readonly quick: boolean; readonly counter: CheckCounter },
  ) {
    this.#folder = folder
    const { quick, counter } = options
    this.packs = openPacks(join(folder, 'pack'), { quick, onBytes: counter.bytes })
    this.loose = looseFiles(folder)
    this.#looseIds = new Set(this.loose.ids)
  }

  /** Reads and hashes every loose object. Until then each is taken for whole. */
  async checkLoose({ one }: CheckCounter): Promise<void> {
    for (const id of this.loose.ids) {
      if (!(await isLooseWhole(this.#folder, id))) this.damagedLoose.add(id)
      one()
    }
  }

  has(id: ObjectId): boolean {
    if (this.#looseIds.has(id) && !this.damagedLoose.has(id)) return true
    const isPacked = this.packs.readable.some(({ index, file, isDamaged }) =>
      isDamaged ? file.read(id) !== undefined : index.offsetOf(id) !== undefined,
    )
    // One that came after the look around.
    return isPacked || (!this.#looseIds.has(id) && existsSync(loosePath(this.#folder, id)))
  }

  read(id: ObjectId): ObjectContent | undefined {
    const loose = readLoose(this.#folder, id)
    if (loose !== undefined) return loose
    for (const { file } of this.packs.readable) {
      const found = file.read(id)
      if (found !== undefined) return found
    }
    return undefined
  }

  close(): void {
    for (const { file } of this.packs.readable) file.close()
  }
}
