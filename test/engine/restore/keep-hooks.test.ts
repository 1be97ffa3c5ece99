// A rewind never removes the hooks that make the checkpoints.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../../cli/program.js'
import { sdk } from '../../support/scratch.js'

const SETTINGS = '.claude/settings.json'
const KEPT = { path: SETTINGS, reason: 'has the hooks of Savestate' }

async function projectOf(s: Scratch) {
  const store = await sdk.openStore({ home: s.home, inProcess: true })
  return { store, project: await store.project(s.project) }
}

test('a rewind to before an install in the project keeps the hooks, and says so', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save', '--name', 'before'])
  s.json(['install', 'claude', '--project', '-y'])
  s.write({ 'a.txt': 'two\n', '.claude/notes.md': 'mine' })
  const hooks = readFileSync(join(s.project, SETTINGS), 'utf8')
  expect(hooks).toContain('savestate hook claude')
  const planned = s.run(['rewind', 'before', '--dry-run'])
  expect(planned.stdout).toContain(`  ${SETTINGS}  (has the hooks of Savestate)\n`)
  const done = s.run(['rewind', 'before', '-y'])
  expect(done.stdout).toContain(`  ${SETTINGS}  (has the hooks of Savestate)\n`)
  expect(readFileSync(join(s.project, SETTINGS), 'utf8')).toBe(hooks)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\n')
  expect(existsSync(join(s.project, '.claude/notes.md'))).toBe(false)
  const { store, project } = await projectOf(s)
  // A second rewind differs only in the hooks.
  expect(await project.rewind('before')).toMatchObject({ applied: false })
  await project.undo()
  expect(readFileSync(join(s.project, '.claude/notes.md'), 'utf8')).toBe('mine')
  // A user who names the file gets it as it was.
  await project.rewind('before', { paths: [SETTINGS] })
  expect(existsSync(join(s.project, SETTINGS))).toBe(false)
  await store.close()
})

test('a file that had no hooks in the checkpoint is kept as it is; a file with hooks in both is restored', async () => {
  using s = scratch({ [SETTINGS]: '{"model": "one"}\n' })
  s.json(['save', '--name', 'without'])
  s.json(['install', 'claude', '--project', '-y'])
  s.json(['save', '--name', 'with'])
  const path = join(s.project, SETTINGS)
  const hooks = readFileSync(path, 'utf8')
  writeFileSync(path, hooks.replace('"one"', '"two"'))
  const { store, project } = await projectOf(s)
  const { plan } = await project.rewind('without')
  expect(plan).toMatchObject({ write: [], remove: [], keep: [KEPT] })
  expect(readFileSync(path, 'utf8')).toContain('"two"')
  await project.rewind('with')
  expect(readFileSync(path, 'utf8')).toBe(hooks)
  // After an uninstall the file is an ordinary file.
  s.json(['uninstall', 'claude', '--project', '-y'])
  await project.rewind('with')
  expect(readFileSync(path, 'utf8')).toBe(hooks)
  await store.close()
})
