import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BytePath, bytePathFromBytes, ROOT } from '../../../src/model/index.js'
import { SavestateError } from '../../../src/model/index.js'
import {
  ASSUMED_MODES,
  decodeModes,
  encodeModes,
  isSameUsual,
  type ModeClass,
  modeClassOf,
  modeOf,
  tabulateModes,
  unusualPaths,
} from '../../../src/snapshot/objects/modes.js'

type Item = { readonly path: BytePath; readonly modeClass: ModeClass; readonly mode: number }

const name = fc
  .uint8Array({ minLength: 1, maxLength: 6 })
  .map((bytes) => bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0x20 : byte)))
  .map((bytes) => bytePathFromBytes(bytes))
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const mode = fc.oneof(fc.constantFrom(0o644, 0o755, 0o600, 0o4755, 0o1777, 0), fc.nat(0o7777))
const items: fc.Arbitrary<Item[]> = fc
  .uniqueArray(fc.tuple(path, fc.constantFrom('file' as const, 'folder' as const), mode), {
    selector: ([text]) => text,
    maxLength: 30,
  })
  .map((rows) => [
    { path: ROOT, modeClass: 'folder', mode: 0o750 },
    ...rows.map(([text, type, bits]) => ({
      path: bytePathFromBytes(Buffer.from(text, 'latin1')),
      modeClass: modeClassOf(type, bits),
      mode: bits,
    })),
  ])

test('every path has the same mode after encoding and decoding', () => {
  fc.assert(
    fc.property(items, (all) => {
      const table = decodeModes(encodeModes(tableOf(all)))
      const back = all.map(({ path: at, modeClass }) => modeOf(table, at, modeClass))
      expect(back).toEqual(all.map((item) => item.mode))
    }),
    { seed: 2, numRuns: 500 },
  )
})

test('a table survives encoding', () => {
  fc.assert(
    fc.property(items, (all) => {
      const table = tableOf(all)
      const back = decodeModes(encodeModes(table))
      expect(back.unusual).toEqual(table.unusual)
      expect(isSameUsual(back, table)).toBe(true)
    }),
    { seed: 3, numRuns: 200 },
  )
})

test('the bytes depend only on the modes, not on their order', () => {
  fc.assert(
    fc.property(items, (all) => {
      expect(encodeModes(tableOf([...all].reverse()))).toEqual(encodeModes(tableOf(all)))
    }),
    { seed: 4, numRuns: 200 },
  )
})

test('the format is readable text', () => {
  const all = [
    file('a', 0o644),
    file('b', 0o644),
    file('secret', 0o600),
    file('run', 0o755),
    { path: ROOT, modeClass: 'folder' as const, mode: 0o700 },
    { path: bytes('d'), modeClass: 'folder' as const, mode: 0o755 },
    { path: bytes('e'), modeClass: 'folder' as const, mode: 0o755 },
  ]
  expect(encodeModes(tableOf(all)).toString('latin1')).toBe(
    'savestate-modes 1\nfile 644\nexecutable 755\nfolder 755\n700 /\x00600 secret\x00',
  )
  expect(unusualPaths(tableOf(all)).sort()).toEqual(['', 'secret'])
})

test('an empty table has the usual modes', () => {
  expect(tableOf([])).toEqual({
    usual: { file: 0o644, executable: 0o755, folder: 0o755 },
    unusual: new Map(),
    isAssumed: false,
  })
})

test.each(['', 'savestate-modes 2\nfile 644\nexecutable 755\nfolder 755\n', 'file 644\n'])(
  'an unknown format is damage, not guesswork: %j',
  (text) => {
    expect(() => decodeModes(Buffer.from(text))).toThrow(
      expect.objectContaining({ constructor: SavestateError, code: 'STORE_DAMAGED' }),
    )
  },
)

function tableOf(all: readonly Item[]) {
  return tabulateModes({
    count(add) {
      for (const { modeClass, mode: bits } of all) add(modeClass, bits, 1)
    },
    unusual(usual, found) {
      for (const { path: at, modeClass, mode: bits } of all)
        if (bits !== usual[modeClass]) found(modeClass, bits, at)
    },
  })
}

function file(text: string, bits: number): Item {
  return { path: bytes(text), modeClass: modeClassOf('file', bits), mode: bits }
}

function bytes(text: string): BytePath {
  return bytePathFromBytes(Buffer.from(text, 'latin1'))
}

test('modes that were not recorded are marked as assumed', () => {
  expect(encodeModes(ASSUMED_MODES).toString('latin1')).toBe(
    'savestate-modes 1 assumed\nfile 644\nexecutable 755\nfolder 755\n',
  )
  expect(decodeModes(encodeModes(ASSUMED_MODES))).toEqual(ASSUMED_MODES)
})
