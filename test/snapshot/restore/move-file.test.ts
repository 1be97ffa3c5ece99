import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { moveWithoutOverwriting } from '../../../src/snapshot/restore/move-file.js'

test('a new file or link does not overwrite what appeared meanwhile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-place-'))
  const at = (name: string) => join(folder, name)
  writeFileSync(at('file'), 'new')
  symlinkSync('somewhere', at('link'))
  writeFileSync(at('came'), 'yours')
  expect(() => moveWithoutOverwriting(at('file'), at('came'))).toThrow('EEXIST')
  expect(() => moveWithoutOverwriting(at('link'), at('came'))).toThrow('EEXIST')
  expect(readFileSync(at('came'), 'utf8')).toBe('yours')

  moveWithoutOverwriting(at('file'), at('placed'))
  moveWithoutOverwriting(at('link'), at('led'))
  expect([readFileSync(at('placed'), 'utf8'), readlinkSync(at('led'))]).toEqual([
    'new',
    'somewhere',
  ])
  expect(readdirSync(folder).sort()).toEqual(['came', 'led', 'placed'])
  rmSync(folder, { recursive: true })
})
