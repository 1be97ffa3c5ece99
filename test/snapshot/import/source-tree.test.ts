// A tree of any bytes is refused, or each of its names is safe and unique.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SavestateError } from '../../../src/model/index.js'
import { readSourceTree } from '../../../src/snapshot/import/source-tree.js'

const ID = Buffer.alloc(20, 0xab)
const entry = (mode: string, name: Buffer) =>
  Buffer.concat([Buffer.from(`${mode} `), name, Buffer.from([0]), ID])

const names = fc.oneof(
  fc.constantFrom('.', '..', '.git', '.GIT', 'git~1', '.git.', 'a/b', '', 'a', 'b', '.gi\u200dt'),
  fc.string({ maxLength: 6 }),
)
const modes = fc.constantFrom('100644', '100755', '120000', '40000', '160000', '040000', '0', 'x')
const trees = fc
  .array(fc.tuple(modes, names), { maxLength: 6 })
  .map((entries) => Buffer.concat(entries.map(([mode, name]) => entry(mode, Buffer.from(name)))))

test('a tree is refused or safe', () => {
  const isUnsafe = (name: string) =>
    name === '' || name === '.' || name === '..' || /\/|^\.git$/i.test(name)
  fc.assert(
    fc.property(
      fc.oneof(
        trees,
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
      (bytes) => {
        let read: ReturnType<typeof readSourceTree>
        try {
          read = readSourceTree(bytes)
        } catch (error) {
          if (error instanceof SavestateError && error.code === 'BAD_INPUT') return
          throw error
        }
        const found = read.map(({ name }) => name)
        expect(found.filter(isUnsafe)).toEqual([])
        expect(new Set(found).size).toBe(found.length)
      },
    ),
    { numRuns: 2000 },
  )
})

test('modes are normalized', () => {
  const bytes = Buffer.concat(
    ['100664', '100711', '120777', '040755', '160000'].map((mode, i) =>
      entry(mode, Buffer.from(`${i}`)),
    ),
  )
  expect(readSourceTree(bytes).map(({ mode }) => mode)).toEqual([
    '100644',
    '100755',
    '120000',
    '40000',
    null,
  ])
})
