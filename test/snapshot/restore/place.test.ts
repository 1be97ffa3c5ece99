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
import { placeWithoutOverwriting } from '../../../src/snapshot/restore/place.js'

test('what has come meanwhile is not overwritten by a new file or a new link', () => {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-place-'))
  const at = (name: string) => join(folder, name)
  writeFileSync(at('file'), 'new')
  symlinkSync('somewhere', at('link'))
  writeFileSync(at('came'), 'yours')
  expect(() => placeWithoutOverwriting(at('file'), at('came'))).toThrow('EEXIST')
  expect(() => placeWithoutOverwriting(at('link'), at('came'))).toThrow('EEXIST')
  expect(readFileSync(at('came'), 'utf8')).toBe('yours')

  placeWithoutOverwriting(at('file'), at('placed'))
  placeWithoutOverwriting(at('link'), at('led'))
  expect([readFileSync(at('placed'), 'utf8'), readlinkSync(at('led'))]).toEqual([
    'new',
    'somewhere',
  ])
  expect(readdirSync(folder).sort()).toEqual(['came', 'led', 'placed'])
  rmSync(folder, { recursive: true })
})
