import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { writeFileAtomically } from '../../src/system/atomic-file.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-atomic-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

test.each([true, false])('the file is replaced as a whole (durable: %s)', (durable) => {
  const folder = mkdtempSync(join(root, 'replace-'))
  const path = join(folder, 'file')
  const write = (content: string | Uint8Array) =>
    writeFileAtomically({ path, temporary: `${path}.tmp`, content, durable })
  write('a longer first content')
  const { ino } = statSync(path)
  write(new Uint8Array([0xff, 0x00]))
  expect(readFileSync(path)).toEqual(Buffer.from([0xff, 0x00]))
  // A process that has the old file open keeps reading the old content.
  expect(statSync(path).ino).not.toBe(ino)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['file'])
})

test('leftovers of a killed process under the temporary name do no harm', () => {
  const folder = mkdtempSync(join(root, 'left-'))
  const path = join(folder, 'file')
  const temporary = `${path}.tmp`
  writeFileAtomically({
    path: temporary,
    temporary: `${temporary}2`,
    content: 'x'.repeat(100),
    durable: false,
  })
  writeFileAtomically({ path, temporary, content: 'short', durable: false })
  expect(readFileSync(path, 'utf8')).toBe('short')
})
