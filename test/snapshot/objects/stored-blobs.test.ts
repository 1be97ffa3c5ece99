import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ObjectId, parseObjectId } from '../../../src/model/ids.js'
import { git, scratchFolders, storeBlobs } from '../../support/scratch-git.js'
import { tries } from '../../support/test-budget.js'
import { contents } from '../capture/sample-contents.js'
import { PackIndexes } from '../../../src/snapshot/objects/pack-indexes.js'
import { inflate, readStoredBlob } from '../../../src/snapshot/objects/stored-blobs.js'

const folder = scratchFolders()
const CONTENTS = ['', 'short', 'a line\n'.repeat(400), 'a line\n'.repeat(401), '\0\xff'].map(
  (text) => Buffer.from(text, 'latin1'),
)

test.each([
  ['loose files', []],
  ['one pack', ['repack', '-q', '-a', '-d', '--window=0']],
])('contents are read from %s', (_where, repack) => {
  const { blobs, ids } = stored(repack)
  for (const [i, content] of CONTENTS.entries())
    expect(blobs.read(ids[i] ?? NONE, content.length)?.equals(content)).toBe(true)
  expect(blobs.read(NONE, 5)).toBe(undefined)
  expect(blobs.read(ids[1] ?? NONE, 6)).toBe(undefined)
})

test('a delta is left to git', () => {
  const { blobs, ids } = stored(['repack', '-q', '-a', '-d', '-f', '--depth=9'])
  const found = CONTENTS.map((content, i) => blobs.read(ids[i] ?? NONE, content.length))
  expect(found.filter((content) => content === undefined)).toHaveLength(1)
  for (const [i, content] of found.entries()) expect(content ?? CONTENTS[i]).toEqual(CONTENTS[i])
})

test('damaged or missing blobs give undefined', () => {
  const loose = stored([])
  const [, short = NONE] = loose.ids
  const path = join(loose.objects, short.slice(0, 2), short.slice(2))
  rmSync(path)
  expect(loose.blobs.read(short, 5)).toBe(undefined)
  writeFileSync(path, 'no zlib stream')
  expect(loose.blobs.read(short, 5)).toBe(undefined)

  const packed = stored(['repack', '-q', '-a', '-d'])
  const pack = packFile(packed.objects)
  const bytes = readFileSync(pack)
  rmSync(pack)
  expect(packed.blobs.read(short, 5)).toBe(undefined)
  writeFileSync(pack, bytes.fill(0, 12, bytes.length - 20))
  expect(packed.blobs.read(short, 5)).toBe(undefined)
})

test('contents are read from several packs, and from the pack that replaces them', () => {
  const { blobs, indexes, ids, gitDir } = stored([])
  for (const id of ids) git(gitDir, ['pack-objects', '-q', 'objects/pack/pack'], `${id}\n`)
  git(gitDir, ['prune-packed', '-q'])
  indexes.refresh()
  const readAll = () => CONTENTS.map((content, i) => blobs.read(ids[i] ?? NONE, content.length))
  for (let round = 0; round < 2; round += 1)
    expect(readAll().every((content) => content !== undefined)).toBe(true)
  git(gitDir, ['repack', '-q', '-a', '-d', '--window=0'])
  indexes.refresh()
  expect(readAll().every((content) => content !== undefined)).toBe(true)
})

test('the content of a stream is found, whatever follows it', () => {
  fc.assert(
    fc.property(contents, fc.uint8Array({ maxLength: 40 }), (bytes, rest) => {
      const stream = deflateSync(bytes)
      const inflated = inflate(Buffer.concat([stream, rest]), bytes.length)
      expect(inflated?.equals(bytes)).toBe(true)
    }),
    { seed: 31, numRuns: tries(1200, 80) },
  )
})

test('a truncated or damaged stream, or one of another size, gives undefined', () => {
  fc.assert(
    fc.property(contents, fc.nat(), (bytes, position) => {
      const stream = deflateSync(bytes)
      const at = position % stream.length
      const damaged = Buffer.from(stream)
      damaged[at] = (damaged[at] ?? 0) ^ 0x55
      const outcome = inflate(damaged, bytes.length)
      // Some bits have no meaning, but the checksum rules out different content.
      expect(outcome === undefined || outcome.equals(bytes)).toBe(true)
      expect(inflate(stream.subarray(0, at), bytes.length)).toBeUndefined()
      expect(inflate(stream, bytes.length + 1)).toBeUndefined()
      expect(bytes.length > 0 && inflate(stream, bytes.length - 1)).toBe(
        bytes.length > 0 && undefined,
      )
    }),
    { seed: 32, numRuns: tries(600, 50) },
  )
})

test('a stream that needs a dictionary gives undefined', () => {
  const bytes = Buffer.from('known words, known words')
  const stream = deflateSync(bytes, { dictionary: Buffer.from('known words') })
  expect(inflate(stream, bytes.length)).toBeUndefined()
})

const NONE = parseObjectId('0'.repeat(40))

function stored(repack: readonly string[]) {
  const gitDir = folder()
  git(gitDir, ['init', '-q', '--bare'])
  const ids = storeBlobs(gitDir, CONTENTS).map((id) => parseObjectId(id))
  const entries = ids.map((id, i) => `100644 blob ${id}\tf${i}\n`)
  const tree = git(gitDir, ['mktree'], entries.join('')).toString('latin1').trim()
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  const commit = git(gitDir, [...who, 'commit-tree', tree, '-m', 'all'])
    .toString('latin1')
    .trim()
  git(gitDir, ['update-ref', 'refs/heads/main', commit])
  if (repack.length > 0) git(gitDir, repack)
  const objects = join(gitDir, 'objects')
  const indexes = new PackIndexes(objects)
  indexes.refresh()
  const read = (id: ObjectId, size: number) =>
    readStoredBlob({ id, size }, { folder: objects, packs: indexes })
  return { blobs: { read }, indexes, ids, gitDir, objects }
}

function packFile(objects: string): string {
  const name = readdirSync(join(objects, 'pack')).find((file) => file.endsWith('.pack'))
  return join(objects, 'pack', name ?? '')
}
