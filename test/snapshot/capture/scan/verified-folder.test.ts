import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import {
  openFolder,
  VerifiedFolder,
} from '../../../../src/snapshot/capture/scan/verified-folder.js'

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-verified-')))
afterAll(() => rmSync(scratch, { recursive: true }))
const root = join(scratch, 'root')
const file = join(root, 'a/b/file')

const read = (path: string) => ({ text: readFileSync(path, 'utf8') })

/** Puts a link to a folder with the same names at root/a. */
function swap(): void {
  renameSync(join(root, 'a'), join(root, 'away'))
  symlinkSync(join(scratch, 'outside'), join(root, 'a'))
}

beforeEach(() => {
  rmSync(root, { recursive: true, force: true })
  for (const [folder, text] of [
    [join(root, 'a/b'), 'own'],
    [join(scratch, 'outside/b'), 'outside'],
  ] as const) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'file'), text)
  }
})

describe.each([
  ['with descriptor paths', true],
  ['without descriptor paths', false],
])('%s', (_, hasDescriptorPaths) => {
  test('a file in the folder is read', () => {
    const folder = new VerifiedFolder(hasDescriptorPaths)
    expect(folder.read(file, read)).toEqual({ text: 'own' })
    const fd = folder.openFile(file)
    expect(readFileSync(Number(fd), 'utf8')).toBe('own')
    closeSync(Number(fd))
    folder.leave()
  })

  test('nothing is read through a link', () => {
    swap()
    const folder = new VerifiedFolder(hasDescriptorPaths)
    expect(folder.read(file, read)).toBe('unstable')
    expect(folder.openFile(file)).toBe('unstable')
  })

  test('a missing folder is gone, and a file at its path is unstable', () => {
    const folder = new VerifiedFolder(hasDescriptorPaths)
    expect(folder.read(join(root, 'none/file'), read)).toBe('gone')
    expect(folder.read(join(file, 'below'), read)).toBe('unstable')
  })

  test('a swap between the check and the read exposes nothing from outside', () => {
    const folder = new VerifiedFolder(hasDescriptorPaths)
    const found = folder.read(file, (path) => {
      swap()
      return read(path)
    })
    expect(found).toEqual(hasDescriptorPaths ? { text: 'own' } : 'unstable')
    folder.leave()
  })
})

test('a folder that the kernel spells differently is opened part by part', () => {
  const folder = openFolder(`${root}//a/b`, true)
  if (typeof folder === 'string') throw new Error(folder)
  expect(read(`${folder.path}/file`)).toEqual({ text: 'own' })
  folder.close()
  swap()
  expect(openFolder(`${root}//a/b`, true)).toBe('unstable')
})
