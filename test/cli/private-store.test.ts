// The store is private with any umask: every folder is 0700, every file 0600.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inChild } from '../snapshot/capture/capture-helpers.js'
import { scratch as sdkScratch, snapshotOf } from '../support/scratch.js'
import { scratch } from './program.js'

type Verified = { readonly problems: readonly unknown[] }

/** Every kind of command that writes to the store, and some that read. */
const SCRIPT = `
  savestate save -m first --name first &&
  echo changed > file-1 && savestate save --session agent --state - < state.json &&
  savestate list && savestate show 1 && savestate diff 1 2 && savestate status && savestate sessions &&
  savestate pin 1 && savestate unpin 1 && savestate name 1 other &&
  savestate rewind first --yes && savestate undo --yes && savestate redo --yes &&
  savestate fork other && savestate resume agent &&
  savestate export --session agent > exported && savestate import json exported --session copy &&
  savestate config && savestate verify`
/** Here git writes too: packs and the list of refs. */
const COLLECT = 'savestate prune --yes && savestate forget file-2 --yes && savestate verify'

/** Paths that other users could access, or the owner could not. Git makes its objects read-only. */
function wrongModes(home: string): string[] {
  return [...snapshotOf(home)].flatMap(([path, { type, mode }]) => {
    const isRight =
      type === 'folder'
        ? mode === 0o700
        : mode === 0o600 || (mode === 0o400 && path.startsWith('objects.git/objects/'))
    return isRight ? [] : `${mode.toString(8)} ${path}`
  })
}

test.each(['000', '777'])('under umask %s, through every command', (umask) => {
  // Enough files for a pack and a stat cache.
  const files = Object.fromEntries(
    Array.from({ length: 150 }, (_, i) => [`file-${i}`, `content ${i}\n`]),
  )
  using s = scratch({ ...files, 'state.json': '{"step": 1}' })
  // The shell's own redirections are not the program's.
  writeFileSync(join(s.project, 'exported'), '')
  const ended = s.shell(`umask ${umask}; ${SCRIPT}`)
  expect(ended).toMatchObject({ code: 0 })
  const paths = [...snapshotOf(s.home).keys()].join('\n')
  for (const kind of [
    'ledger.db',
    '.idx',
    '.pack',
    'cache/',
    'locks/',
    'refs/savestate/',
    'format',
  ])
    expect(paths).toContain(kind)
  expect(wrongModes(s.home)).toEqual([])
  expect(s.shell(`umask ${umask}; ${COLLECT}`)).toMatchObject({ code: 0 })
  expect(wrongModes(s.home)).toEqual([])
})

test('verify reports files that other users can read, and repair closes them', () => {
  using s = scratch({ 'a.txt': 'one' })
  s.run(['save'])
  chmodSync(join(s.home, 'format'), 0o644)
  const { problems } = JSON.parse(s.run(['verify', '--json']).stdout) as Verified
  expect(problems).toMatchObject([
    { kind: 'permissions', message: 'other users could read format' },
  ])
  expect(s.run(['repair', '--yes']).code).toBe(0)
  expect(wrongModes(s.home)).toEqual([])
})

test('settings written by an editor are no damage', () => {
  using s = scratch({ 'a.txt': 'one' })
  s.run(['save'])
  writeFileSync(join(s.home, 'config.json'), '{}', { mode: 0o644 })
  const verified = s.run(['verify', '--json'])
  expect([verified.code, (JSON.parse(verified.stdout) as Verified).problems]).toEqual([0, []])
})

test('a program with a wide umask that uses the SDK makes no wider store', async () => {
  await using s = await sdkScratch({ files: { 'a.txt': 'one' } })
  const body = `
    process.umask(0)
    await store.close()
    fs.rmSync(scratch.home, { recursive: true })
    const again = await sdk.openStore({ home: scratch.home })
    const project = await again.project(scratch.project)
    const { id } = await project.save()
    fs.writeFileSync(path.join(scratch.project, 'a.txt'), 'two')
    await (await again.session('x', { agent: 'a', project })).save({ state: { a: 1 } })
    await project.rewind(id)
    // While it is open there are -wal and -shm.
    const open = fs.readdirSync(scratch.home, { recursive: true }).filter(
      (name) => (fs.lstatSync(path.join(scratch.home, name)).mode & 0o077) !== 0)
    const names = fs.readdirSync(scratch.home)
    await again.close()
    return { open, hasWal: names.includes('ledger.db-wal') }
  `
  expect(await inChild(s, body)).toEqual({ open: [], hasWal: true })
  expect(wrongModes(s.home)).toEqual([])
})

test('a program whose umask removes its own permissions gets an error, and loses nothing', async () => {
  await using s = await sdkScratch({ files: { 'a.txt': 'one' } })
  const body = `
    const { id } = await project.save()
    process.umask(0o277)
    fs.writeFileSync(path.join(scratch.project, 'a.txt'), 'two')
    const code = await codeOf(project.save())
    process.umask(0o022)
    const { id: later } = await project.save()
    return { code, isSame: later === id, problems: (await store.verify()).problems }
  `
  expect(await inChild(s, body, { asOrdinaryUser: true })).toEqual({
    code: expect.stringMatching(/^(?:none|FILE_FAILED|STORE_UNUSABLE)$/),
    isSame: false,
    problems: [],
  })
})
