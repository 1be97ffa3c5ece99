import {
  closeSync,
  fchmodSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type BytePath, bytePath } from '../../../src/model/index.js'
import { withUserPath } from '../../../src/snapshot/restore/safe-folders.js'

test("an error of a step names the user's path, whatever path the call used", () => {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-words-'))
  mkdirSync(join(folder, 'there'))
  writeFileSync(join(folder, '.savestate-tmp-x-0'), '')
  const fd = openSync(folder, 'r')
  const at = (name: string) => `/proc/self/fd/${fd}/${name}`
  const said = (path: BytePath, step: () => void) => {
    try {
      step()
    } catch (error) {
      return withUserPath(error, path) === error && String(error)
    }
    return 'no error'
  }
  const path = bytePath('sub/it')
  expect(said(path, () => mkdirSync(at('there')))).toBe(
    "Error: EEXIST: file already exists, mkdir 'sub/it'",
  )
  expect(said(path, () => renameSync(at('.savestate-tmp-x-0'), at('there')))).toBe(
    "Error: EISDIR: illegal operation on a directory, rename 'sub/it'",
  )
  expect(said(bytePath(''), () => mkdirSync(at('there')))).toMatch(/mkdir '\.'$/)
  expect(said(path, () => mkdirSync(join(folder, 'there')))).toContain(folder)
  closeSync(fd)
  expect(said(path, () => fchmodSync(fd, 0o700))).toBe(
    "Error: EBADF: bad file descriptor, fchmod 'sub/it'",
  )
  rmSync(folder, { recursive: true })
})
