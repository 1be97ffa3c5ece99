// Replaces several packs and loose objects by one pack, with deltas and without garbage.
// Order of writes: pack and index in a temporary folder, flushed; pack named; index named; folder flushed. The old files stay
// until then; afterwards every object exists twice until they are removed.
import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { failpoint, listIfExists, syncFile, syncFolder } from '../../system/index.js'
import type { ObjectFiles, Pack } from './object-sizes.js'
import { eachLine } from '../git/git-program.js'
import { listReachable } from './object-graph.js'

export type Selection = {
  readonly packs: readonly Pack[]
  readonly loose: readonly string[]
}

const MANY_LOOSE = 200
const SMALL_PACK_BYTES = 16 << 20
const MANY_SMALL_PACKS = 4
const WASTE_PART = 0.1
const WASTE_BYTES = 1 << 20

/** Selects only what is worth it: large packs with little waste stay as they are. */
export function select(
  { loose, packs }: ObjectFiles,
  live: ReadonlySet<string>,
  { thorough }: { readonly thorough: boolean },
): Selection {
  const kept = [...loose.keys()].filter((id) => live.has(id))
  const wasteful = packs.filter((pack) => isWasteful(pack, live, thorough))
  const small = packs.filter((pack) => pack.bytes < SMALL_PACK_BYTES && !wasteful.includes(pack))
  const isWorthIt = kept.length >= MANY_LOOSE || small.length >= MANY_SMALL_PACKS
  if (wasteful.length === 0 && !isWorthIt && !(thorough && kept.length > 1))
    return { packs: [], loose: [] }
  return { packs: [...wasteful, ...small], loose: kept }
}

function isWasteful(
  { objects, bytes }: Pack,
  live: ReadonlySet<string>,
  thorough: boolean,
): boolean {
  let wasted = 0
  for (const [id, size] of objects) if (!live.has(id)) wasted += size
  if (thorough) return wasted > 0
  return wasted > WASTE_BYTES || wasted > bytes * WASTE_PART
}

/** Returns the name of the new pack; undefined if the selection has no live objects. */
export async function repack(
  gitDir: string,
  selection: Selection,
  {
    commits,
    live,
    temporary,
  }: { commits: Iterable<string>; live: ReadonlySet<string>; temporary: string },
): Promise<string | undefined> {
  const wanted = new Set(selection.loose)
  for (const { objects } of selection.packs)
    for (const id of objects.keys()) if (live.has(id)) wanted.add(id)
  if (wanted.size === 0) return undefined
  const lines = await listReachable(gitDir, commits)
  const named = lines.filter((line) => wanted.delete(line.slice(0, 40)))
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { recursive: true, mode: 0o700 })
  const args = ['pack-objects', '-q', '--delta-base-offset', '--threads=1', join(temporary, 'pack')]
  await eachLine(gitDir, { args, input: [...named, ...wanted] })
  return installPack(temporary, join(gitDir, 'objects', 'pack'))
}

/** Moves the only pack in `temporary` to the packs of a store; returns its name. */
export function installPack(temporary: string, folder: string): string | undefined {
  const files = listIfExists(temporary)
  const index = files.find((file) => file.endsWith('.idx'))
  if (index === undefined) return undefined
  const name = index.slice(0, -'.idx'.length)
  for (const file of files) {
    chmodSync(join(temporary, file), 0o600)
    syncFile(join(temporary, file))
  }
  failpoint('collect:packed')
  // The index last: git sees a pack only through its index.
  for (const file of [...files.filter((other) => other !== index), index]) {
    renameSync(join(temporary, file), join(folder, file))
    failpoint('collect:named')
  }
  syncFolder(folder)
  rmSync(temporary, { recursive: true, force: true })
  return name
}
