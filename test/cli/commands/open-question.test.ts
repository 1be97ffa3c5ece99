// A question on the terminal blocks no other process, and Ctrl-C changes nothing.
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { SharedLock, takeLock } from '../../../src/system/index.js'
import { sdk } from '../../support/scratch.js'
import { prepared, type Scratch, scratch } from '../program.js'
import { onTerminal } from '../terminal.js'

/** Rewinds to undo and to redo, a session that is on a remote too, an archive, something to import, and installed hooks. */
const made = prepared(() => {
  const s = scratch({ 'a.txt': 'one\n', 'state.json': '{"n": 1}' })
  s.json(['save', '--session', 'work', '--state', 'state.json', '--name', 'start'])
  for (const text of ['two\n', 'three\n']) {
    s.write({ 'a.txt': text })
    s.json(['save'])
  }
  for (const args of [['rewind', 'start'], ['rewind', '2'], ['undo']]) s.json([...args, '-y'])
  s.json(['fork', 'start', '--as', 'attempt', '--into', '../attempt'])
  execFileSync('git', ['init', '--quiet', '--bare', join(s.folder, 'own.git')])
  for (const args of [
    ['remote', 'add', 'own', '../own.git', '--plain'],
    ['remote', 'init'],
    ['push', 'work'],
  ])
    s.json(args)
  s.write({ 'a.txt': 'four\n' })
  s.json(['install', 'codex', '-y'])
  for (const folder of ['ares', 'store/legacy-x'])
    mkdirSync(join(s.folder, folder), { mode: 0o700 })
  const step = { session_id: 'run', step: 0, messages: [], status: 'completed' }
  writeFileSync(join(s.folder, 'ares/run_0.json'), JSON.stringify(step))
  return s
})

const QUESTIONS = [
  'rewind start',
  'rewind --session work start --both',
  'undo',
  'redo',
  'prune --max-checkpoints 1',
  'drop 2',
  'clear',
  'clear --all',
  'clear-legacy',
  'forget a.txt',
  'import ares ../ares',
  'install claude',
  'install codex',
  'uninstall codex',
  'rekey',
  'repair',
  'remote drop own work',
  'adopt attempt',
] as const

/** These commands share the file of another. */
const FILE_OF: Readonly<Record<string, string>> = { redo: 'undo', uninstall: 'install' }

test('QUESTIONS covers all commands that ask', () => {
  const folder = new URL('../../../src/cli/commands/', import.meta.url)
  const asking = readdirSync(folder).filter((name) =>
    /confirm\.js|undoOrRedo/.test(readFileSync(new URL(name, folder), 'utf8')),
  )
  const names = QUESTIONS.map((command) => command.split(' ')[0] ?? '')
  expect(new Set(names.map((name) => FILE_OF[name] ?? name))).toEqual(
    new Set(asking.map((name) => basename(name, '.ts'))),
  )
})

test.each(QUESTIONS)('%s', async (command) => {
  using s = made()
  if (command === 'repair') damageAnObject(s)
  const before = readFileSync(join(s.project, 'a.txt'), 'utf8')
  const rows = s.json(['list'])
  const key = command === 'rekey' ? `SAVESTATE_KEY=${'1f'.repeat(32)} ` : ''
  const terminal = onTerminal(s, `${key}savestate ${command}`)
  await terminal.shows('[y/N')
  await expectFreeLocks(s)
  terminal.type('\u0003')
  expect(await terminal.ended).toBe(130)
  expect(terminal.output()).toMatch(/\[y\/N.*\] \^?C?\s*Nothing was changed\.\s*$/)
  expect(s.json(['list'])).toEqual(rows)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe(before)
})

test('while a repair asks a second time, the store is free', async () => {
  using s = made()
  damageAnObject(s)
  // Another kind of fault is another round.
  chmodSync(join(s.home, 'legacy-x'), 0o755)
  let asked = 0
  await sdk.repairStore({
    home: s.home,
    inProcess: true,
    async confirm() {
      asked += 1
      await expectFreeLocks(s)
      return true
    },
  })
  expect(asked).toBeGreaterThan(1)
})

test('the picker leaves the project free, and a plan that has changed is shown before it is done', async () => {
  using s = made()
  const terminal = onTerminal(s, 'savestate rewind', { rows: 20, columns: 70 })
  await terminal.shows('Go back to which checkpoint?')
  await expectFreeLocks(s)
  terminal.type('\u001b[B\r')
  await terminal.shows('? [y/N]')
  const store = await sdk.openStore({ home: s.home, inProcess: true })
  const agent = await store.project(s.project)
  s.write({ 'work.txt': 'hours of work\n' })
  const { id, created } = await agent.save({ reason: 'meanwhile' })
  expect(created).toBe(true)
  terminal.type('y\n')
  await terminal.shows('something has changed since you were asked')
  await terminal.shows('work.txt')
  terminal.type('y\n')
  expect(await terminal.ended).toBe(0)
  expect(terminal.output().match(/\[y\/N\]/g)).toHaveLength(2)
  expect(readdirSync(s.project)).not.toContain('work.txt')
  await agent.rewind(id)
  expect(readFileSync(join(s.project, 'work.txt'), 'utf8')).toBe('hours of work\n')
  await store.close()
})

test('a checkpoint that an agent saves during the question is shown before clear removes it', async () => {
  using s = made()
  const terminal = onTerminal(s, 'savestate clear')
  await terminal.shows('[y/N]')
  s.write({ 'a.txt': 'meanwhile\n' })
  s.json(['save'])
  terminal.type('y\n')
  await terminal.shows('something has changed since you were asked')
  terminal.type('n\n')
  expect(await terminal.ended).toBe(1)
})

async function expectFreeLocks({ home }: Scratch): Promise<void> {
  const folder = join(home, 'locks')
  const projects = readdirSync(folder).filter((name) => /^[bcdfghjklmnpqrstvwxz]{18}$/.test(name))
  expect(projects).not.toEqual([])
  for (const name of projects) {
    const lock = await takeLock(join(folder, name), { waitMs: 0, purpose: 'test' })
    expect(lock).toBeDefined()
    lock?.release()
  }
  for (const name of ['store', 'objects']) {
    const shared = new SharedLock(join(folder, name), { waitMs: 0 })
    await shared.hold()
    shared.close()
  }
}

/** The repair first sets it aside, then lists the checkpoints that have lost it. */
function damageAnObject({ home }: Scratch): void {
  const objects = join(home, 'objects.git/objects')
  const file = readdirSync(objects, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^[0-9a-f]{2}\/[0-9a-f]{38}$|\.pack$/.test(name))
    .toSorted()[0]
  appendFileSync(join(objects, file ?? ''), 'damage')
}
