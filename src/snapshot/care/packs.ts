// The packs of the store: which can be read, and what is wrong with the others.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ObjectId } from '../../model/index.js'
import { PackFile } from './pack-file.js'
import {
  endsWithItsHash,
  type PackIndexFile,
  readPackIndexFile,
  trailerOf,
} from './pack-index-file.js'
import { listIfThere } from '../../system/index.js'

export type PackFault = {
  /** Without its ending. */
  readonly name: string
  readonly fault: 'no-index' | 'index-damaged' | 'no-pack' | 'pack-damaged'
}

export type ReadablePack = {
  readonly name: string
  readonly index: Pick<PackIndexFile, 'offsetOf'>
  readonly file: PackFile
  /** Then each of its objects has to be read to know whether it is whole. */
  readonly isDamaged: boolean
}

export type Packs = {
  readonly readable: readonly ReadablePack[]
  readonly faults: readonly PackFault[]
  /** Indexes that git makes beside the packs, and could do without: wrong ones. */
  readonly derived: readonly string[]
}

const PACK = /^(pack-[0-9a-f]{40})\.(pack|idx)$/
const DERIVED = /\.(?:rev|bitmap)$|^multi-pack-index$/

export function openPacks(
  folder: string,
  { quick, onBytes }: { readonly quick: boolean; readonly onBytes: (count: number) => void },
): Packs {
  const files = listIfThere(folder)
  const names = new Set(files.flatMap((file) => PACK.exec(file)?.[1] ?? []))
  const readable: ReadablePack[] = []
  const faults: PackFault[] = []
  for (const name of names) {
    const [pack, idx] = [join(folder, `${name}.pack`), join(folder, `${name}.idx`)]
    const index = readPackIndexFile(idx, { quick })
    if (!existsSync(pack)) {
      faults.push({ name, fault: 'no-pack' })
    } else if (index === undefined) {
      faults.push({ name, fault: existsSync(idx) ? 'index-damaged' : 'no-index' })
      readable.push(withoutIndex(name, pack))
    } else {
      const belongs = trailerOf(pack) === index.packChecksum
      const isDamaged = !belongs || (!quick && !endsWithItsHash(pack, onBytes))
      if (isDamaged) faults.push({ name, fault: 'pack-damaged' })
      readable.push({ name, index, file: new PackFile(pack, index), isDamaged })
    }
  }
  const derived = files
    .filter((file) => !quick && DERIVED.test(file))
    .map((file) => join(folder, file))
    .filter((path) => !endsWithItsHash(path, onBytes))
  return { readable, faults, derived }
}

/** Read once from its start to its end, or to what is damaged in it. What comes of it has been hashed. */
function withoutIndex(name: string, path: string): ReadablePack {
  const file = new PackFile(path, undefined)
  const offsets = new Map<ObjectId, number>()
  for (const { id, offset } of file.inOrder()) offsets.set(id, offset)
  file.close()
  const index = { offsetOf: (id: ObjectId) => offsets.get(id) }
  return { name, index, file: new PackFile(path, index), isDamaged: false }
}
