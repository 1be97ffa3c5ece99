// I6: the user changes files between a kill and the next command. Recovery still finishes or rolls back the rewind, and
// reports the paths that it leaves as they are.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { give } from '../../snapshot/capture/capture-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../../support/crash-child.mjs')
const NOBODY = 65_534

type Step = readonly [string, unknown?]

/** Runs in its own process as an ordinary user, which dies at the failpoint if one is given. */
function asUser(s: Scratch, run: readonly Step[], failpoint?: string): unknown {
  const uid = statSync(s.folder).uid
  const request = { home: s.home, project: s.project, run, inProcess: true, uid }
  const child = spawnSync(process.execPath, [CHILD, JSON.stringify(request)], {
    cwd: '/',
    env: failpoint === undefined ? process.env : { ...process.env, SAVESTATE_FAILPOINT: failpoint },
    encoding: 'utf8',
  })
  expect(child.signal).toBe(failpoint === undefined ? null : 'SIGKILL')
  return failpoint === undefined ? JSON.parse(child.stdout) : undefined
}

/** Kills a rewind to the first of two states of the project at the failpoint. */
function killedRewind(
  s: Scratch,
  { second, failpoint }: { second: Parameters<Scratch['write']>[0]; failpoint: string },
): void {
  giveToUser(s)
  asUser(s, [['save', { name: 'first' }]])
  s.write(second)
  giveToUser(s)
  asUser(s, [['rewind', { to: 'first' }]], failpoint)
}

function giveToUser(s: Scratch): void {
  if (process.getuid?.() !== 0) return
  chownSync(s.folder, NOBODY, NOBODY)
  for (const path of s.snapshotOf().keys()) chownSync(join(s.project, path), NOBODY, NOBODY)
}

/** The notices of the next command. */
async function noticesOf(s: Scratch): Promise<string[]> {
  const notices: string[] = []
  // Root refuses a store of another user.
  if (process.getuid?.() === 0) give(s.home, 0)
  const project = await (await s.open()).project(s.project)
  await project.list({ onWarning: (text) => notices.push(text) })
  return notices
}

test.each([0, 0o644])(
  'an inaccessible folder (mode %i) does not keep its temporary files, and stays inaccessible',
  async (mode) => {
    await using s = await scratch({ files: { 'top/dir/x': 'one', 'top/y': 'one' } })
    const second = { 'top/dir/x': 'two', 'top/y': 'two' }
    killedRewind(s, { second, failpoint: 'apply:staged' })
    const folders = ['top/dir', 'top'].map((path) => join(s.project, path))
    expect(folders.map((path) => readdirSync(path).length)).toEqual([2, 3])
    for (const path of folders) chmodSync(path, mode)
    expect(asUser(s, [['list']])).not.toHaveProperty('error')
    expect(statSync(join(s.project, 'top')).mode & 0o7777).toBe(mode)
    chmodSync(join(s.project, 'top'), 0o755)
    expect(statSync(join(s.project, 'top/dir')).mode & 0o7777).toBe(mode)
    chmodSync(join(s.project, 'top/dir'), 0o755)
    expect(folders.map((path) => readdirSync(path))).toEqual([['x'], ['dir', 'y']])
    expect(readFileSync(join(s.project, 'top/dir/x'), 'utf8')).toBe('two')
  },
)

test('a read-only folder does not keep its temporary files', async () => {
  await using s = await scratch({ files: { 'dir/x': 'one' } })
  killedRewind(s, { second: { 'dir/x': 'two' }, failpoint: 'apply:staged' })
  expect(readdirSync(join(s.project, 'dir'))).toHaveLength(2)
  chmodSync(join(s.project, 'dir'), 0o555)
  expect(asUser(s, [['list']])).not.toHaveProperty('error')
  expect(readdirSync(join(s.project, 'dir'))).toEqual(['x'])
  expect(readFileSync(join(s.project, 'dir/x'), 'utf8')).toBe('one')
  expect(statSync(join(s.project, 'dir')).mode & 0o7777).toBe(0o555)
})

test('a rewind is finished although its paths are ignored now', async () => {
  await using s = await scratch({ files: { 'dir/x': 'one', 'dir/y': 'one' } })
  killedRewind(s, { second: { 'dir/x': 'two', 'dir/y': 'two' }, failpoint: 'apply:place' })
  s.write({ '.savestateignore': 'dir/\n' })
  expect(await noticesOf(s)).toEqual([
    expect.stringMatching(/^An interrupted rewind has been finished: rewind to "first" \(\w+\)\.$/),
  ])
  expect(readFileSync(join(s.project, 'dir/x'), 'utf8')).toBe('one')
  expect(readFileSync(join(s.project, 'dir/y'), 'utf8')).toBe('one')
})

test('a rewind that cannot be finished is rolled back although its paths are ignored now', async () => {
  await using s = await scratch({ files: { 'dir/x': 'one', 'dir/y': 'one' } })
  killedRewind(s, { second: { 'dir/x': 'two', 'dir/y': null }, failpoint: 'apply:placed' })
  expect(readFileSync(join(s.project, 'dir/x'), 'utf8')).toBe('one')
  s.write({ '.savestateignore': 'dir/\n', 'dir/y': null })
  execFileSync('mkfifo', [join(s.project, 'dir/y')])
  expect(await noticesOf(s)).toEqual([
    'An interrupted rewind could not be finished and was undone: dir/y would be overwritten, but is now not captured: a socket, pipe or device',
  ])
  expect(readFileSync(join(s.project, 'dir/x'), 'utf8')).toBe('two')
  expect(statSync(join(s.project, 'dir/y')).isFIFO()).toBe(true)
})

test('files that the user changed stay and are reported', async () => {
  await using s = await scratch({ files: { x: 'one', y: 'one', z: 'one' } })
  const second = { x: 'two', y: 'two', z: 'two' }
  killedRewind(s, { second, failpoint: 'apply:place' })
  s.write({ y: 'mine', z: 'mine' })
  expect(await noticesOf(s)).toEqual([
    expect.stringContaining('An interrupted rewind has been finished: '),
    expect.stringContaining('y and 1 more stay as found: changed since. '),
  ])
  expect(['x', 'y', 'z'].map((name) => readFileSync(join(s.project, name), 'utf8'))).toEqual([
    'one',
    'mine',
    'mine',
  ])
})
