// Copies every object that git can still read from a damaged pack into a new one.
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { listIfExists, type SetAside } from '../../system/index.js'
import { installPack } from '../gc/repack.js'
import { eachLine, tryGit } from '../git/git-program.js'
import { FANOUT_BYTES, HEADER_BYTES, packHeader } from '../objects/pack-format.js'
import { runFsck } from '../repository.js'
import { endsWithItsHash, lastBytes, packChecksumIn, readAt } from './checksums.js'
import { unreadableIn } from './examine.js'

/** Type, size and an empty zlib stream. */
const LEAST_ENTRY_BYTES = 9

const WHY = 'a damaged pack; what could be read is in another'

/** Adds a new pack to `folder`, then quarantines the damaged one. */
export async function replacePack(
  folder: string,
  work: { readonly name: string; readonly temporary: string; readonly away: SetAside },
): Promise<void> {
  const { name, away } = work
  const made = await salvagePack(folder, work)
  const isSameName = made !== undefined && listIfExists(made).includes(`${name}.pack`)
  // Git names a pack by its content: if no object is lost, the new pack has the name of the damaged one.
  if (isSameName) away.copy(join(folder, `${name}.pack`), WHY)
  if (made !== undefined) installPack(made, folder)
  const replaced = isSameName
    ? ['rev', 'bitmap', 'mtimes']
    : ['idx', 'rev', 'bitmap', 'mtimes', 'pack']
  for (const ending of replaced) away.move(join(folder, `${name}.${ending}`), WHY)
}

/** Returns the folder with the new pack; undefined if no object could be read. */
async function salvagePack(
  folder: string,
  { name, temporary }: { readonly name: string; readonly temporary: string },
): Promise<string | undefined> {
  const [pack, idx] = [join(folder, `${name}.pack`), join(folder, `${name}.idx`)]
  if (!existsSync(pack)) return undefined
  const repository = join(temporary, 'salvage')
  mkdirSync(join(repository, 'objects', 'pack'), { recursive: true })
  mkdirSync(join(repository, 'refs'))
  writeFileSync(join(repository, 'HEAD'), 'ref: refs/heads/none\n')
  const bad = isUsable(pack, idx)
    ? await copyWithIndex({ name, pack, idx, repository })
    : await unpackInOrder(pack, repository)
  const ids: string[] = []
  const list = ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']
  await eachLine(repository, { args: list, input: [] }, (id) => {
    if (!bad.has(id)) ids.push(id)
  })
  if (ids.length === 0) return undefined
  const made = join(temporary, 'packed')
  mkdirSync(made)
  const config = ['-c', 'pack.writeReverseIndex=false']
  const args = ['pack-objects', '-q', '--delta-base-offset', '--threads=1', join(made, 'pack')]
  await eachLine(repository, { args: [...config, ...args], input: ids })
  return made
}

/** Whether git accepts the pack and its index, in spite of damage to objects. */
function isUsable(pack: string, idx: string): boolean {
  if (!existsSync(idx) || !endsWithItsHash(idx)) return false
  const checksum = packChecksumIn(idx)
  if (checksum === undefined || !lastBytes(pack).equals(checksum)) return false
  const header = packHeader(readAt(idx, HEADER_BYTES + FANOUT_BYTES - 4, 4).readUInt32BE())
  return readAt(pack, 0, header.length).equals(header)
}

/** With an index git finds each object by its offset, whatever is damaged before it. Returns the damaged objects. */
async function copyWithIndex({
  name,
  pack,
  idx,
  repository,
}: Readonly<Record<'name' | 'pack' | 'idx' | 'repository', string>>): Promise<Set<string>> {
  const copy = join(repository, 'objects', 'pack', name)
  copyFileSync(pack, `${copy}.pack`)
  copyFileSync(idx, `${copy}.idx`)
  const complaints = await runFsck(repository)
  return new Set(unreadableIn(complaints, { gitDir: repository, damagedLoose: [] }))
}

/**
 * Without an index git reads from the start, and tries to find the next object after a damaged one. It refuses a pack with a
 * wrong header, so the header is corrected in a copy: the number of objects in it is the largest possible one.
 */
async function unpackInOrder(pack: string, repository: string): Promise<Set<string>> {
  const copy = join(repository, 'damaged.pack')
  copyFileSync(pack, copy)
  const fd = openSync(copy, 'r+')
  writeSync(fd, packHeader(Math.ceil(statSync(pack).size / LEAST_ENTRY_BYTES)), 0, undefined, 0)
  closeSync(fd)
  await tryGit(repository, ['unpack-objects', '-r', '-q'], { input: createReadStream(copy) })
  return new Set()
}
