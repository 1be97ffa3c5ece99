import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openHome } from '../../../src/engine/store/store-home.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-home-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let count = 0
const newPath = () => join(root, String(++count))
const modeOf = (path: string) => statSync(path).mode & 0o777

test('a new store has mode 0700 and a format file, and opens again unchanged', () => {
  const path = newPath()
  expect(openHome(path)).toBe(path)
  expect(modeOf(path)).toBe(0o700)
  expect(readdirSync(path)).toEqual(['format'])
  expect(readFileSync(join(path, 'format'), 'utf8')).toBe('savestate 1\n')
  expect(modeOf(join(path, 'format'))).toBe(0o600)
  const { ino, mtimeNs } = statSync(join(path, 'format'), { bigint: true })
  expect(openHome(path)).toBe(path)
  expect(statSync(join(path, 'format'), { bigint: true })).toMatchObject({ ino, mtimeNs })
})

test('missing parent folders are created, and a symlink leads to the store', () => {
  const path = join(newPath(), 'deep', 'down')
  const real = openHome(path)
  expect(modeOf(real)).toBe(0o700)
  const link = newPath()
  symlinkSync(path, link)
  expect(openHome(link)).toBe(real)
})

test('an empty folder becomes a store that others cannot enter', () => {
  const path = newPath()
  mkdirSync(path)
  chmodSync(path, 0o755)
  openHome(path)
  expect(modeOf(path)).toBe(0o700)
})

test('a folder with other files is refused and not changed', () => {
  const path = newPath()
  mkdirSync(path)
  chmodSync(path, 0o755)
  writeFileSync(join(path, 'mine.txt'), 'mine')
  expect(() => openHome(path)).toThrow(expect.objectContaining({ code: 'STORE_UNUSABLE' }))
  expect(readdirSync(path)).toEqual(['mine.txt'])
  expect(modeOf(path)).toBe(0o755)
})

test('a store whose creation was killed is created again', () => {
  const path = newPath()
  mkdirSync(path)
  writeFileSync(join(path, 'format.tmp'), 'savesta')
  openHome(path)
  expect(readFileSync(join(path, 'format'), 'utf8')).toBe('savestate 1\n')
})

test.each(['savestate 2\n', 'savestate 10\n', 'something else', ''])(
  'I8: a store of format %j is not touched',
  (format) => {
    const path = newPath()
    mkdirSync(path, { mode: 0o700 })
    writeFileSync(join(path, 'format'), format)
    const before = statSync(join(path, 'format'), { bigint: true })
    const folderBefore = statSync(path, { bigint: true })
    expect(() => openHome(path)).toThrow(expect.objectContaining({ code: 'STORE_NEWER' }))
    expect(readdirSync(path)).toEqual(['format'])
    expect(readFileSync(join(path, 'format'), 'utf8')).toBe(format)
    expect(statSync(join(path, 'format'), { bigint: true }).mtimeNs).toBe(before.mtimeNs)
    expect(statSync(path, { bigint: true }).mtimeNs).toBe(folderBefore.mtimeNs)
  },
)

test('an empty path is refused and does not mean the default', () => {
  expect(() => openHome('')).toThrow(
    expect.objectContaining({
      code: 'STORE_UNUSABLE',
      message: 'The path of the store is empty',
      hint: 'Set SAVESTATE_HOME to a folder, or leave it unset for ~/.savestate.',
    }),
  )
})

test('a file at the path of the store is refused with a hint', () => {
  const path = newPath()
  writeFileSync(path, 'a file')
  expect(() => openHome(path)).toThrow(
    expect.objectContaining({
      code: 'STORE_UNUSABLE',
      hint: expect.stringContaining('SAVESTATE_HOME'),
    }),
  )
  expect(() => openHome(join(path, 'below'))).toThrow(
    expect.objectContaining({ code: 'STORE_UNUSABLE' }),
  )
  expect(readFileSync(path, 'utf8')).toBe('a file')
})
