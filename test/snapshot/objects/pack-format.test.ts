import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ObjectId, parseObjectId } from '../../../src/model/ids.js'
import { commit, git, scratchFolders } from '../../support/scratch-git.js'
import { encodePackIndex, type IndexedEntry } from '../../../src/snapshot/objects/pack-format.js'
import { PackIndexes } from '../../../src/snapshot/objects/pack-indexes.js'

const folder = scratchFolders()
const NO_PACK = Buffer.alloc(20)

test("a pack index equals git's, byte for byte", () => {
  const repository = folder()
  git(repository, ['init', '-q'])
  commit(repository, { a: 'a\n', 'b/c': 'c\n'.repeat(1000), 'b/d': '' })
  git(repository, ['repack', '-adq'])
  const packs = join(repository, '.git/objects/pack')
  const name = readdirSync(packs).find((entry) => entry.endsWith('.idx')) ?? ''
  const index = readFileSync(join(packs, name))
  const pack = readFileSync(join(packs, name.replace(/idx$/, 'pack')))
  expect(encodePackIndex(shownByGit(index), pack.subarray(-20))).toEqual(index)
})

test('git reads offsets of any size from our index', () => {
  const offsets = [12, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1, 2 ** 32, 2 ** 40, 2 ** 52]
  const entries = offsets.map((offset, i) => ({ id: idOf(`large ${i}`), crc: i * 7, offset }))
  const shown = shownByGit(encodePackIndex(entries, NO_PACK))
  expect(shown).toEqual([...entries].sort((a, b) => (a.id < b.id ? -1 : 1)))
})

test('git reads any set of objects back as given', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(), { maxLength: 40 }),
      fc.array(fc.nat(2 ** 31), { minLength: 40, maxLength: 40 }),
      (seeds, numbers) => {
        const entries = seeds.map((seed, i) => ({
          id: idOf(String(seed)),
          crc: numbers[i] ?? 0,
          offset: (numbers[i] ?? 0) * 3,
        }))
        const shown = shownByGit(encodePackIndex(entries, NO_PACK))
        expect(shown).toEqual([...entries].sort((a, b) => (a.id < b.id ? -1 : 1)))
      },
    ),
    { seed: 1, numRuns: 30 },
  )
})

test('an object is found exactly when some pack has it', () => {
  const { indexes, addPack } = packFolder()
  const ids = Array.from({ length: 3000 }, (_, i) => idOf(`object ${i}`))
  const edges = ['00'.repeat(20), `00${'ff'.repeat(19)}`, `ff${'00'.repeat(19)}`, 'ff'.repeat(20)]
  addPack('one', [...ids.slice(0, 2000), ...edges.map(parseObjectId)])
  addPack('two', ids.slice(2000))
  indexes.refresh()
  expect(ids.filter((id) => !indexes.has(id))).toEqual([])
  expect(edges.filter((id) => !indexes.has(parseObjectId(id)))).toEqual([])
  const others = Array.from({ length: 3000 }, (_, i) => idOf(`other ${i}`))
  expect(others.filter((id) => indexes.has(id))).toEqual([])
  indexes.close()
})

test('a pack that was added or removed is noticed after a refresh', async () => {
  const { packs, indexes, addPack } = packFolder()
  const [first, second] = [idOf('first'), idOf('second')]
  indexes.refresh()
  expect([indexes.has(first), indexes.has(second)]).toEqual([false, false])
  addPack('one', [first])
  await tick()
  indexes.refresh()
  expect([indexes.has(first), indexes.has(second)]).toEqual([true, false])
  addPack('two', [second])
  rmSync(join(packs, 'one.idx'))
  await tick()
  indexes.refresh()
  expect([indexes.has(first), indexes.has(second)]).toEqual([false, true])
  indexes.close()
  expect(indexes.has(second)).toBe(false)
  indexes.refresh()
  expect(indexes.has(second)).toBe(true)
  indexes.close()
})

test('an index without objects contains none', () => {
  const { indexes, addPack } = packFolder()
  addPack('none', [])
  indexes.refresh()
  expect(indexes.has(idOf('any'))).toBe(false)
  indexes.close()
})

function packFolder() {
  const objects = folder()
  const packs = join(objects, 'pack')
  mkdirSync(packs)
  const addPack = (name: string, ids: readonly ObjectId[]) => {
    const entries = ids.map((id, i) => ({ id, crc: 0, offset: 12 + i }))
    writeFileSync(join(packs, `${name}.idx`), encodePackIndex(entries, NO_PACK))
  }
  return { packs, indexes: new PackIndexes(objects), addPack }
}

function idOf(text: string): ObjectId {
  return parseObjectId(createHash('sha1').update(text).digest('hex'))
}

/** The output of `git show-index`. */
function shownByGit(index: Buffer): IndexedEntry[] {
  const lines = git('/', ['show-index', '--object-format=sha1'], index).toString('latin1')
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [offset, id = '', crc = ''] = line.split(' ')
      return {
        id: parseObjectId(id),
        crc: Number.parseInt(crc.slice(1, -1), 16),
        offset: Number(offset),
      }
    })
}

/** Longer than the granularity of file times. */
function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 25))
}
