// docs/guide/repair.md: a file or folder of the store has the wrong type. Verify finds it, repair moves it aside, and nothing blocks. The
// tests start processes, because a process that reads a pipe cannot be stopped from inside.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { VerifyResult } from '../../../src/index.js'
import { prepared, type Scratch, scratch } from '../../cli/program.js'

const HOWS: Readonly<Record<string, (path: string) => void>> = {
  pipe: (path) => void execFileSync('mkfifo', ['-m', '600', path]),
  folder: (path) => mkdirSync(path, { mode: 0o700 }),
  'link to nowhere': (path) => symlinkSync('nowhere/at/all', path),
  'link in a circle': (path) => symlinkSync(path, path),
}

const savedStore = prepared(() => {
  const s = scratch({ 'a.txt': 'one\n' })
  const { code } = s.run(['save', '--session', 'task', '--state', '-'], { input: '{"n":1}' })
  if (code !== 0) throw new Error(`The save ended with ${code}`)
  return s
})

/** The only path that matches the pattern, relative to the store. */
function placeIn(home: string, form: string): string {
  const [folder = '', name] = form.split('/ID')
  if (name === undefined) return form
  const found = readdirSync(join(home, folder)).find(
    (it) => /^[b-z]{18}(?<end>.*)$/.exec(it)?.groups?.['end'] === name,
  )
  return join(folder, found ?? `no ${form}`)
}

function problemsOf(s: Scratch): VerifyResult['problems'] {
  return (JSON.parse(s.run(['verify', '--json']).stdout) as VerifyResult).problems
}

test.each([
  ['pipe', 'format'],
  ['folder', 'format'],
  ['link in a circle', 'format'],
  ['pipe', 'ledger.db'],
  ['folder', 'ledger.db'],
  ['pipe', 'locks/ID'],
  ['folder', 'locks/ID'],
  ['link to nowhere', 'locks/ID'],
  ['pipe', 'locks/ID.owner'],
  ['folder', 'locks/ID.owner'],
  ['link in a circle', 'locks'],
  ['link to nowhere', 'tmp'],
  ['pipe', 'cache'],
  ['pipe', 'objects.git/packed-refs'],
  ['link to nowhere', 'objects.git/HEAD'],
])('repair finds a %s at the path of %s and moves it aside', (how, form) => {
  using s = savedStore()
  const place = placeIn(s.home, form)
  rmSync(join(s.home, place), { recursive: true, force: true })
  HOWS[how]?.(join(s.home, place))
  expect(problemsOf(s)).toMatchObject([{ path: place, severity: 'damage', repairable: true }])
  expect(s.run(['repair', '--yes'])).toMatchObject({ code: 0 })
  expect(problemsOf(s)).toEqual([])
  const [aside = ''] = readdirSync(join(s.home, 'damaged'))
  expect(readdirSync(join(s.home, 'damaged', aside, place, '..'))).toContain(
    place.split('/').at(-1),
  )
  s.write({ 'a.txt': 'two\n' })
  expect(s.run(['save']).code).toBe(0)
  expect(s.run(['rewind', '2', '--files', '--yes']).code).toBe(0)
})

test('other commands do not block on a pipe either', () => {
  using s = savedStore()
  const [format, owner] = [join(s.home, 'format'), join(s.home, placeIn(s.home, 'locks/ID.owner'))]
  rmSync(owner)
  HOWS['pipe']?.(owner)
  s.write({ 'a.txt': 'two\n' })
  expect(s.run(['save']).code).toBe(2)
  rmSync(format)
  HOWS['pipe']?.(format)
  expect(s.run(['list'])).toMatchObject({ code: 2, stdout: '' })
  expect(s.run(['list']).stderr).toContain('savestate repair')
})

test('repair rewrites a HEAD that is a symlink, which git reads as a ref', () => {
  using s = savedStore()
  const head = join(s.home, 'objects.git', 'HEAD')
  renameSync(head, join(s.folder, 'head'))
  symlinkSync(join(s.folder, 'head'), head)
  expect(problemsOf(s)).toMatchObject([{ kind: 'repository', path: 'objects.git/HEAD' }])
  expect(s.run(['repair', '--yes']).code).toBe(0)
  expect(problemsOf(s)).toEqual([])
})

test.each([
  ['objects.git'],
  ['objects.git/objects'],
  ['objects.git/objects/pack'],
  ['objects.git/refs'],
  ['ledger.db'],
  ['journal'],
])('%s on a disk that is not mounted is reported and not changed', (place) => {
  using s = savedStore()
  // Merges the log into the ledger, so that the ledger is the only file.
  expect(s.run(['verify']).code).toBe(0)
  const [path, disk] = [join(s.home, place), join(s.folder, 'disk')]
  if (existsSync(path)) renameSync(path, disk)
  else mkdirSync(disk, { mode: 0o700 })
  symlinkSync(disk, path)
  expect(problemsOf(s)).toEqual([])
  renameSync(disk, `${disk}.away`)
  const found = [{ path: place, message: 'is a broken link', repairable: false }]
  expect(problemsOf(s)).toMatchObject(found)
  const { code, stdout } = s.run(['repair', '--yes'])
  expect([code, stdout]).toEqual([2, expect.stringContaining(`is a broken link (${place})`)])
  expect(existsSync(join(s.home, 'damaged'))).toBe(false)
  renameSync(`${disk}.away`, disk)
  expect(problemsOf(s)).toEqual([])
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ hasState: true, hasFiles: true }] })
})
