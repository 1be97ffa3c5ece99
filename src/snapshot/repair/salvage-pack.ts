// Copies every object that git can still read from a damaged pack into a new one. Git refuses the whole pack if its header or
// checksum is wrong, so both are first corrected in a copy; git does everything else. Reading the pack in order instead would
// lose everything after the first damaged object.
import {
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { listIfExists, type SetAside } from '../../system/index.js'
import { installPack } from '../gc/repack.js'
import { eachLine, tryGit } from '../git/git-program.js'
import { packHeader } from '../objects/pack-format.js'
import { runFsck } from '../repository.js'
import { endsWithItsHash, lastBytes, packChecksumIn, readAt } from './checksums.js'
import { unreadableIn } from './examine.js'

const CHECKSUM_BYTES = 20
/** Git reads at least this much at the offset of an object. */
const ENTRY_BYTES = 64
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
  const checksum = existsSync(idx) && endsWithItsHash(idx) ? packChecksumIn(idx) : undefined
  const ids =
    checksum === undefined
      ? await readableInOrder(pack, repository)
      : await readableByIndex({ name, pack, idx, checksum, repository })
  if (ids.length === 0) return undefined
  const made = join(temporary, 'packed')
  mkdirSync(made)
  const config = ['-c', 'pack.writeReverseIndex=false']
  const args = ['pack-objects', '-q', '--delta-base-offset', '--threads=1', join(made, 'pack')]
  await eachLine(repository, { args: [...config, ...args], input: ids })
  return made
}

/** With an index git finds each object by its offset, whatever is damaged before it. */
async function readableByIndex({
  name,
  pack,
  idx,
  checksum,
  repository,
}: Readonly<Record<'name' | 'pack' | 'idx' | 'repository', string>> & {
  readonly checksum: Buffer
}): Promise<string[]> {
  const { output } = await tryGit(repository, ['show-index'], { input: createReadStream(idx) })
  const entries = output
    .toString('latin1')
    .split('\n')
    .flatMap((line) => {
      const [offset, id, crc] = line.split(/[ ()]+/)
      return id === undefined ? [] : [{ id, offset: Number(offset), crc: `0x${crc}` }]
    })
    .sort((a, b) => a.offset - b.offset)
  const copy = join(repository, 'objects', 'pack', name)
  copyFileSync(idx, `${copy}.idx`)
  copyFileSync(pack, `${copy}.pack`)
  const fd = openSync(`${copy}.pack`, 'r+')
  try {
    writeSync(fd, packHeader(entries.length), 0, undefined, 0)
    if (!lastBytes(pack).equals(checksum)) {
      const end = endOfEntries(pack, entries.at(-1))
      ftruncateSync(fd, end)
      writeSync(fd, checksum, 0, CHECKSUM_BYTES, end)
    }
  } finally {
    closeSync(fd)
  }
  const complaints = await runFsck(repository)
  const bad = new Set<string>(unreadableIn(complaints, { gitDir: repository, damagedLoose: [] }))
  return entries.map(({ id }) => id).filter((id) => !bad.has(id))
}

/** The offset of the checksum. Git checks the CRC of the last entry up to it; if that entry is damaged, any later offset works. */
function endOfEntries(pack: string, last: { offset: number; crc: string } | undefined): number {
  const { size } = statSync(pack)
  const offset = last?.offset ?? size
  const start = Math.min(offset, size)
  const tail = readAt(pack, start, size - start)
  const isEnd = (end: number) =>
    end > offset && crc32(tail.subarray(0, end - offset)) === Number(last?.crc)
  const ends = Array.from({ length: CHECKSUM_BYTES + 1 }, (_, missing) => size - missing)
  return ends.find(isEnd) ?? Math.max(size, offset + ENTRY_BYTES)
}

/** Without an index git reads from the start, as far as it can. */
async function readableInOrder(pack: string, repository: string): Promise<string[]> {
  const copy = join(repository, 'damaged.pack')
  copyFileSync(pack, copy)
  const fd = openSync(copy, 'r+')
  writeSync(fd, packHeader(Math.ceil(statSync(pack).size / LEAST_ENTRY_BYTES)), 0, undefined, 0)
  closeSync(fd)
  await tryGit(repository, ['unpack-objects', '-r', '-q'], { input: createReadStream(copy) })
  const ids: string[] = []
  const args = ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']
  await eachLine(repository, { args, input: [] }, (line) => void ids.push(line))
  return ids
}
