import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { SavestateError } from '../../../src/model/index.js'
import { type ObjectId, parseObjectId } from '../../../src/model/ids.js'
import { git, scratchFolders, storeBlobs } from '../../support/scratch-git.js'
import { objectIdOf } from '../../../src/snapshot/objects/object-id.js'
import { BlobReader } from '../../../src/snapshot/git/blob-reader.js'

const repository = scratchFolders()()
git(repository, ['init', '-q', '--bare'])
const readers: BlobReader[] = []
afterAll(() => readers.forEach((reader) => reader.close()))

const MISSING = parseObjectId('1234567890'.repeat(4))

test('objects with any content are read completely', async () => {
  const reader = newReader()
  const contents = ['', '\n', 'text\n', 'no newline', '\0binary\xff', `${'1'.repeat(40)} blob 5\n`]
  for (const text of contents) {
    const content = Buffer.from(text, 'latin1')
    expect(await reader.read(store(content))).toEqual(content)
  }
})

test('a large object arrives in chunks, in order', async () => {
  const reader = newReader()
  const content = Buffer.alloc(6 << 20)
  for (let at = 0; at < content.length; at += 4) content.writeUInt32LE(at, at)
  const id = store(content)
  const hash = createHash('sha1').update(`blob ${content.length}\0`)
  let size = 0
  let pieces = 0
  await reader.stream(id, {
    start: (announced) => (size = announced),
    chunk: (bytes) => {
      hash.update(bytes)
      pieces += 1
    },
  })
  expect([hash.digest('hex'), size]).toEqual([id, content.length])
  expect(pieces).toBeGreaterThan(10)
})

test('each of several concurrent reads gets its own object', async () => {
  const reader = newReader()
  const contents = Array.from({ length: 200 }, (_, i) => Buffer.alloc(i * 397, `${i} `))
  const ids = storeAll(contents)
  const read = await Promise.all(ids.map((id) => reader.read(id)))
  expect(read.map((content) => objectIdOf('blob', content))).toEqual(ids)
})

test('a missing object is damage, and does not disturb the reads around it', async () => {
  const reader = newReader()
  const [before, after] = [Buffer.from('before'), Buffer.from('after')]
  const [first, missing, last] = await Promise.allSettled([
    reader.read(store(before)),
    reader.read(MISSING),
    reader.read(store(after)),
  ])
  expect(first).toEqual({ status: 'fulfilled', value: before })
  expect(missing).toMatchObject({ reason: { constructor: SavestateError, code: 'STORE_DAMAGED' } })
  expect(last).toEqual({ status: 'fulfilled', value: after })
})

test('a receiver that throws gets its error, and the next read gets its object', async () => {
  const reader = newReader()
  const large = store(Buffer.alloc(3 << 20, 'x'))
  const fault = new Error('the disk is full')
  const failing = reader.stream(large, {
    start: () => undefined,
    chunk: () => {
      throw fault
    },
  })
  const next = reader.read(store(Buffer.from('next')))
  await expect(failing).rejects.toBe(fault)
  expect(await next).toEqual(Buffer.from('next'))
})

test('trees and commits are read like blobs', async () => {
  const reader = newReader()
  const tree = parseObjectId(git(repository, ['mktree']).toString('latin1').trim())
  expect(await reader.read(tree)).toEqual(Buffer.alloc(0))
})

test('a closed reader starts again on the next read', async () => {
  const reader = newReader()
  const content = Buffer.from('again')
  const id = store(content)
  expect(await reader.read(id)).toEqual(content)
  reader.close()
  expect(await reader.read(id)).toEqual(content)
})

test('objects written or packed after the reader started are found', async () => {
  const reader = newReader()
  await reader.read(store(Buffer.from('first')))
  const later = store(Buffer.from('later'))
  expect(await reader.read(later)).toEqual(Buffer.from('later'))
  git(repository, ['update-ref', 'refs/tags/keep', later])
  git(repository, ['repack', '-adq'])
  git(repository, ['prune-packed'])
  expect(await reader.read(later)).toEqual(Buffer.from('later'))
})

test('all reads of damaged objects are answered, however much git complains', async () => {
  const reader = newReader()
  const ids = storeAll(Array.from({ length: 500 }, (_, i) => Buffer.from(`damaged ${i}`)))
  for (const id of ids) {
    const folder = join(repository, 'objects', id.slice(0, 2))
    mkdirSync(folder, { recursive: true })
    rmSync(join(folder, id.slice(2)), { force: true })
    writeFileSync(join(folder, id.slice(2)), 'damaged')
  }
  for (const pack of readdirSync(join(repository, 'objects', 'pack')))
    rmSync(join(repository, 'objects', 'pack', pack), { force: true })
  for (const id of ids)
    await expect(reader.read(id)).rejects.toMatchObject({ constructor: SavestateError })
  const whole = Buffer.from('whole')
  expect(await reader.read(store(whole))).toEqual(whole)
})

// git sends all bytes of a loose blob, whatever its header says, and then waits for the next request.
test.each([1, 2, 41, 42, 43, 44, 1000, 99_999_999_999])(
  'a blob whose header claims %i bytes too many is damage, and the next read gets its object',
  async (more) => {
    const reader = newReader()
    const liar = plant(`blob ${6 + more}\0no end`)
    const whole = store(Buffer.from('whole'))
    const [first, second] = await Promise.allSettled([reader.read(liar), reader.read(whole)])
    expect(first).toMatchObject({ reason: { code: 'STORE_DAMAGED' } })
    expect(second).toEqual({ status: 'fulfilled', value: Buffer.from('whole') })
    expect(await reader.read(whole)).toEqual(Buffer.from('whole'))
  },
)

test('with headers only, no body is read', async () => {
  const reader = new BlobReader(repository, { headersOnly: true })
  readers.push(reader)
  const sizes: number[] = []
  const receiver = {
    start: (size: number) => sizes.push(size),
    chunk: () => expect.unreachable('a body was read'),
  }
  await reader.stream(plant('blob 99999999999\0no end'), receiver)
  await reader.stream(store(Buffer.from('whole')), receiver)
  expect(sizes).toEqual([99_999_999_999, 5])
  await expect(reader.stream(MISSING, receiver)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
})

test('a folder that is not a repository is an error, not an endless wait', async () => {
  const reader = new BlobReader('/nonexistent')
  await expect(reader.read(MISSING)).rejects.toBeInstanceOf(Error)
})

function newReader(): BlobReader {
  const reader = new BlobReader(repository)
  readers.push(reader)
  return reader
}

let planted = 0

/** A loose object with these bytes, under a name that is not its hash. */
function plant(bytes: string): ObjectId {
  planted += 1
  const id = parseObjectId(String(planted).padStart(40, 'f'))
  const folder = join(repository, 'objects', id.slice(0, 2))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, id.slice(2)), deflateSync(bytes))
  return id
}

function storeAll(contents: readonly Buffer[]): readonly ObjectId[] {
  const ids = contents.map((content) => objectIdOf('blob', content))
  expect(storeBlobs(repository, contents)).toEqual(ids)
  return ids
}

function store(content: Buffer): ObjectId {
  const id = git(repository, ['hash-object', '-w', '--stdin'], content).toString('latin1').trim()
  expect(id).toBe(objectIdOf('blob', content))
  return parseObjectId(id)
}
