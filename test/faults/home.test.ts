// A store that cannot be written, or a part of which another user owns: the program reports it, exits with 2, and changes nothing.
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CheckpointView } from '../../src/index.js'
import { type Ended, PROGRAM, prepared, type Scratch, scratch } from '../cli/program.js'
import { hashTree } from '../support/scratch.js'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

const READING = [['list'], ['show', '1'], ['diff', '1', '2'], ['status'], ['verify'], ['sessions']]
const WRITING = [['save'], ['rewind', '2', '-y'], ['pin', '1'], ['prune', '-y'], ['undo', '-y']]

/** Two checkpoints and a change. */
const inUse = prepared(() => {
  const s = scratch({ 'a.txt': 'one' })
  s.run(['save'])
  s.write({ 'a.txt': 'two' })
  s.run(['save'])
  s.write({ 'a.txt': 'three' })
  return s
})

/** The same, owned by an ordinary user; `asUser` runs the program as that user. */
function ordinary(): Scratch & { asUser(args: readonly string[]): Ended } {
  const s = inUse()
  if (isRoot) for (const path of allIn(s.folder)) chownSync(path, NOBODY, NOBODY)
  return {
    ...s,
    asUser(args) {
      // Root ignores permissions.
      const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
      const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, '--json', ...args], {
        cwd: s.project,
        env: s.environment,
        encoding: 'utf8',
        ...user,
      })
      return { code: status, stdout, stderr }
    },
  }
}

test('with a read-only home every command reports it and changes nothing', () => {
  using s = ordinary()
  const modes = new Map(allIn(s.home).map((path) => [path, lstatSync(path).mode]))
  for (const [path, mode] of modes) chmodSync(path, mode & 0o555)
  const before = [hashTree(s.home), hashTree(s.project)]
  for (const args of [...READING, ...WRITING])
    expect([args, errorOf(s.asUser(args))]).toEqual([args, { code: 2, error: 'STORE_UNUSABLE' }])
  expect([hashTree(s.home), hashTree(s.project)]).toEqual(before)
  for (const [path, mode] of modes) chmodSync(path, mode)
  expectWhole(s)
})

test.each(['/proc/x', '/proc/x/y'])(
  'a path at which no folder can be created, %s, is reported too',
  (home) => {
    using s = scratch({ 'a.txt': 'one' })
    for (const args of [['save'], ['list'], ['status']]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, '--json', ...args], {
        cwd: s.project,
        env: { ...s.environment, SAVESTATE_HOME: home },
        encoding: 'utf8',
        // A process in an endless system call takes no other signal.
        timeout: 120_000,
        killSignal: 'SIGKILL',
      })
      expect(errorOf({ code: status, stdout, stderr })).toEqual({
        code: 2,
        error: 'STORE_UNUSABLE',
      })
    }
  },
)

test('a store on a read-only mount is reported too', () => {
  using s = inUse()
  const before = [hashTree(s.home), hashTree(s.project)]
  const lines = [...READING, ...WRITING].map(
    (args) =>
      `'${process.execPath}' '${PROGRAM}' --json ${args.join(' ')} 2>&1 >/dev/null; echo "=$?"`,
  )
  const mount = `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && echo mounted`
  const script = [mount, ...lines].join('\n')
  const { stdout } = spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', s.home], {
    cwd: s.project,
    env: s.environment,
    encoding: 'utf8',
  })
  const needed =
    'needs a mount in a namespace: run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)'
  if (stdout?.startsWith('mounted') !== true) throw new Error(needed)
  const codes = stdout.match(/"code": "[A-Z_]+"|=\d+/g)
  const expected = [...READING, ...WRITING].flatMap(() => ['"code": "STORE_UNUSABLE"', '=2'])
  expect(codes).toEqual(expected)
  expect([hashTree(s.home), hashTree(s.project)]).toEqual(before)
})

test.each(['.', 'format', 'ledger.db', 'objects.git', 'objects.git/objects', 'locks', 'tmp'])(
  'a store whose %s belongs to another user is refused and stays intact',
  (name) => {
    using s = ordinary()
    s.asUser(['list'])
    const path = join(s.home, name)
    const { mode } = lstatSync(path)
    chmodSync(path, isRoot ? mode & 0o700 : 0)
    if (isRoot) chownSync(path, 0, 0)
    for (const args of name === '.' ? [['verify'], ['repair', '-y'], ['doctor']] : [])
      expect([args, errorOf(s.asUser(args)).error]).toEqual([
        args,
        isRoot ? 'STORE_FOREIGN' : 'STORE_UNUSABLE',
      ])
    const { code, error } = errorOf(s.asUser(['save']))
    const isOwned = isRoot && ['.', 'ledger.db', 'objects.git'].includes(name)
    const expected = isOwned ? ['STORE_FOREIGN'] : ['STORE_UNUSABLE', 'FILE_FAILED']
    expect([code, expected.includes(error)]).toEqual([2, true])
    chmodSync(path, mode)
    if (isRoot) chownSync(path, NOBODY, NOBODY)
    expectWhole(s)
  },
)

function expectWhole(s: ReturnType<typeof ordinary>): void {
  const { checkpoints } = JSON.parse(s.asUser(['list']).stdout) as {
    checkpoints: CheckpointView[]
  }
  expect(checkpoints).toHaveLength(2)
  expect(s.asUser(['save'])).toMatchObject({ code: 0 })
  expect(s.asUser(['rewind', '3', '-y'])).toMatchObject({ code: 0 })
  expect(s.asUser(['verify'])).toMatchObject({ code: 0 })
}

function errorOf({ code, stderr }: Ended): { code: number | null; error: string } {
  const { error } = JSON.parse(stderr) as { error: { code: string } }
  return { code, error: error.code }
}

/** Deepest first. */
function allIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return [
    ...names
      .map((name) => join(folder, name))
      .sort()
      .reverse(),
    folder,
  ]
}
