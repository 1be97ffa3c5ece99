// What lies in the object folder, file by file: how much each object takes, and in which pack it is.
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../model/index.js'
import { listIfThere } from '../../system/index.js'

export type Pack = {
  /** Without its ending. */
  readonly name: string
  readonly bytes: number
  /** What each object takes in it. */
  readonly objects: ReadonlyMap<string, number>
}

export type Census = {
  /** By id: bytes on disk. */
  readonly loose: ReadonlyMap<string, number>
  readonly packs: readonly Pack[]
}

const BLOCK_BYTES = 512
const HEADER_BYTES = 8
const FANOUT_BYTES = 256 * 4
const TRAILER_BYTES = 40

export function takeCensus(objectsFolder: string): Census {
  return { loose: looseIn(objectsFolder), packs: packsIn(join(objectsFolder, 'pack')) }
}

/** What every object takes, whether loose or packed; of one that is there twice, both. */
export function bytesOf({ loose, packs }: Census): Map<string, number> {
  const sizes = new Map(loose)
  for (const { objects } of packs)
    for (const [id, bytes] of objects) sizes.set(id, (sizes.get(id) ?? 0) + bytes)
  return sizes
}

function looseIn(objectsFolder: string): Map<string, number> {
  const loose = new Map<string, number>()
  for (const prefix of readdirSync(objectsFolder)) {
    if (!/^[0-9a-f]{2}$/.test(prefix)) continue
    for (const name of listIfThere(join(objectsFolder, prefix))) {
      if (!/^[0-9a-f]{38}$/.test(name)) continue
      // One that has just been collected by somebody else is no longer there.
      const stats = lstatSync(join(objectsFolder, prefix, name), { throwIfNoEntry: false })
      if (stats !== undefined) loose.set(prefix + name, stats.blocks * BLOCK_BYTES)
    }
  }
  return loose
}

function packsIn(folder: string): Pack[] {
  return listIfThere(folder)
    .filter((file) => /^pack-[0-9a-f]{40}\.idx$/.test(file))
    .flatMap((file) => packAt(folder, file.slice(0, -'.idx'.length)) ?? [])
}

function packAt(folder: string, name: string): Pack | undefined {
  try {
    const { size, blocks } = statSync(join(folder, `${name}.pack`))
    const index = readFileSync(join(folder, `${name}.idx`))
    return { name, bytes: blocks * BLOCK_BYTES, objects: sizesIn(index, size) }
  } catch (error) {
    // Collected by another process, or half of it is missing: `verify` tells which.
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** From one offset to the next. */
function sizesIn(index: Buffer, packBytes: number): Map<string, number> {
  const count = index.readUInt32BE(HEADER_BYTES + FANOUT_BYTES - 4)
  const idsAt = HEADER_BYTES + FANOUT_BYTES
  const offsetsAt = idsAt + count * 24
  const entries = Array.from({ length: count }, (_, row) => ({
    id: index.toString('hex', idsAt + row * 20, idsAt + row * 20 + 20),
    offset: offsetAt(index, { row, offsetsAt, count }),
  })).sort((a, b) => a.offset - b.offset)
  return new Map(
    entries.map(({ id, offset }, place) => {
      const end = entries[place + 1]?.offset ?? packBytes - TRAILER_BYTES / 2
      return [id, end - offset]
    }),
  )
}

/** Beyond 2 GB it stands in a table of its own. */
function offsetAt(
  index: Buffer,
  { row, offsetsAt, count }: { row: number; offsetsAt: number; count: number },
): number {
  const offset = index.readUInt32BE(offsetsAt + row * 4)
  if (offset < 0x80000000) return offset
  const large = offsetsAt + count * 4 + (offset - 0x80000000) * 8
  return Number(index.readBigUInt64BE(large))
}
