// The objects folder file by file: the size of each object, and the pack it is in.
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../model/index.js'
import { listIfExists } from '../../system/index.js'
import { FANOUT_BYTES, HEADER_BYTES, LARGE } from '../objects/pack-format.js'

export type Pack = {
  /** Without the extension. */
  readonly name: string
  readonly bytes: number
  readonly objects: ReadonlyMap<string, number>
}

export type ObjectFiles = {
  /** By id: bytes on disk. */
  readonly loose: ReadonlyMap<string, number>
  readonly packs: readonly Pack[]
}

const BLOCK_BYTES = 512
const CHECKSUM_BYTES = 20

export function listObjectFiles(objectsFolder: string): ObjectFiles {
  return { loose: findLoose(objectsFolder), packs: packsIn(join(objectsFolder, 'pack')) }
}

/** Bytes per object, loose and packed; both if an object exists twice. */
export function bytesOf({ loose, packs }: ObjectFiles): Map<string, number> {
  const sizes = new Map(loose)
  for (const { objects } of packs)
    for (const [id, bytes] of objects) sizes.set(id, (sizes.get(id) ?? 0) + bytes)
  return sizes
}

function findLoose(objectsFolder: string): Map<string, number> {
  const loose = new Map<string, number>()
  for (const prefix of readdirSync(objectsFolder)) {
    if (!/^[0-9a-f]{2}$/.test(prefix)) continue
    for (const name of listIfExists(join(objectsFolder, prefix))) {
      if (!/^[0-9a-f]{38}$/.test(name)) continue
      // Another process's collection may have removed it.
      const stats = lstatSync(join(objectsFolder, prefix, name), { throwIfNoEntry: false })
      if (stats !== undefined) loose.set(prefix + name, stats.blocks * BLOCK_BYTES)
    }
  }
  return loose
}

function packsIn(folder: string): Pack[] {
  return listIfExists(folder)
    .filter((file) => /^pack-[0-9a-f]{40}\.idx$/.test(file))
    .flatMap((file) => packAt(folder, file.slice(0, -'.idx'.length)) ?? [])
}

function packAt(folder: string, name: string): Pack | undefined {
  try {
    const { size, blocks } = statSync(join(folder, `${name}.pack`))
    const index = readFileSync(join(folder, `${name}.idx`))
    return { name, bytes: blocks * BLOCK_BYTES, objects: readSizes(index, size) }
  } catch (error) {
    // Another process's collection removed it, or one of the two files is missing, which `verify` reports.
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** An object takes the bytes up to the next offset. */
function readSizes(index: Buffer, packBytes: number): Map<string, number> {
  const count = index.readUInt32BE(HEADER_BYTES + FANOUT_BYTES - 4)
  const idsAt = HEADER_BYTES + FANOUT_BYTES
  const offsetsAt = idsAt + count * 24
  const entries = Array.from({ length: count }, (_, row) => ({
    id: index.toString('hex', idsAt + row * 20, idsAt + row * 20 + 20),
    offset: offsetAt(index, { row, offsetsAt, count }),
  })).sort((a, b) => a.offset - b.offset)
  return new Map(
    entries.map(({ id, offset }, place) => {
      const end = entries[place + 1]?.offset ?? packBytes - CHECKSUM_BYTES
      return [id, end - offset]
    }),
  )
}

/** Offsets beyond 2 GB are in a separate table. */
function offsetAt(
  index: Buffer,
  { row, offsetsAt, count }: { row: number; offsetsAt: number; count: number },
): number {
  const offset = index.readUInt32BE(offsetsAt + row * 4)
  if (offset < LARGE) return offset
  const large = offsetsAt + count * 4 + (offset - LARGE) * 8
  return Number(index.readBigUInt64BE(large))
}
