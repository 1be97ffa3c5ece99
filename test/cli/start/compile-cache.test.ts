// Node's compile cache in the store, on versions of Node that have one (docs/decisions/0034).
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../program.js'

const hasCompileCache = 'enableCompileCache' in module

test('a command in an existing store uses the cache there, closed to other users', () => {
  using s = scratch({ 'a.txt': 'a\n' })
  s.run(['save'])
  expect(s.run(['list'])).toMatchObject({ code: 0, stderr: '' })
  const cache = join(s.home, 'cache/compile')
  const mode = statSync(cache, { throwIfNoEntry: false })?.mode
  expect(mode === undefined ? undefined : mode & 0o777).toBe(hasCompileCache ? 0o700 : undefined)
  expect(s.run(['verify'])).toMatchObject({ code: 0 })
})

test('no store is created for it', () => {
  using s = scratch()
  expect(s.run(['help'])).toMatchObject({ code: 0 })
  expect(existsSync(s.home)).toBe(false)
})

test('a cache that other users can write is not used', () => {
  using s = scratch({ 'a.txt': 'a\n' })
  s.run(['save'])
  const cache = join(s.home, 'cache/compile')
  mkdirSync(cache, { recursive: true })
  chmodSync(cache, 0o777)
  const before = readdirSync(cache)
  expect(s.run(['show', '1'])).toMatchObject({ code: 0 })
  expect(readdirSync(cache)).toEqual(before)
})
