// A command has the same output and effect with and without the daemon: both run on the same store and folder, which are
// restored in between, and the answers are compared.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Ended, type Setting, steady } from '../cli/program.js'
import { type DaemonScratch, daemonScratch, isAlive } from './daemon-helpers.js'

type Step = {
  readonly args: readonly string[]
  readonly setting?: Setting
  readonly write?: Readonly<Record<string, string>>
}

const step = (...args: string[]): Step => ({ args })

const SERVED = (s: DaemonScratch): readonly Step[] => [
  step('save'),
  {
    ...step('save', '-m', 'new \u001b[31mwörds', '--name', 'third'),
    write: { 'a.txt': 'three\n' },
  },
  { ...step('save', '--json'), write: { 'sub/c.txt': 'c\n' } },
  { ...step('save', '-C', '.', '-m', 'below'), setting: { cwd: join(s.project, 'sub') } },
  { ...step('-C', s.project, 'save', '-m', 'named'), setting: { cwd: '/' } },
]

/** The caller runs these itself. A rewind through the socket would let a sandbox write where it must not. */
const HERE = (s: DaemonScratch): readonly Step[] => [
  step('save', '--nope'),
  step('save', '--session', 's', '-m', 'x'),
  step('save', '--max-file-mb', '1'),
  { ...step('-C', join(s.folder, 'nowhere'), 'save'), setting: { env: { FORCE_COLOR: '1' } } },
  step('-C', 'nowhere', 'save'),
  // A variable that is not set.
  step('-C', '', 'save'),
  { ...step('save', '-m', 'x'), setting: { env: { GIT_CONFIG_COUNT: '0' } } },
  { ...step('save', '-m', 'x'), setting: { env: { SAVESTATE_KEY: 'no key' } } },
  step('list', '--json'),
  step('rewind', 'second', '-y'),
  step('undo', '-y', '--json'),
]

test('the answers are the same with and without the daemon', { timeout: 300_000 }, () => {
  using s = daemonScratch({ 'package.json': '{}\n', 'a.txt': 'one\n', 'sub/b.txt': 'b\n' })
  s.run(['save', '-m', 'first'])
  s.write({ 'a.txt': 'two\n' })
  s.run(['save', '--name', 'second'])
  s.write({ 'a.txt': 'two and more\n' })
  const aside = `${s.folder}-aside`
  execFileSync('cp', ['-a', s.folder, aside])
  try {
    const steps = [...SERVED(s), ...HERE(s)]
    const alone = steps.map((one) => ran(s, one))
    for (const name of ['project', 'store']) {
      rmSync(join(s.folder, name), { recursive: true })
      execFileSync('cp', ['-a', join(aside, name), join(s.folder, name)])
    }
    s.daemon('start')
    const answers = steps.map((one) => ran(s, one))
    for (const [at, { args }] of steps.entries())
      expect({ args, ...answers[at] }).toEqual({ args, ...alone[at] })
    expect(s.daemon('status').served).toBe(SERVED(s).length)
    expect(alone.filter(({ code }) => code !== 0)).toHaveLength(5)
    expect(s.run(['verify']).code).toBe(0)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
})

test('status shows what the daemon watches', () => {
  using s = daemonScratch({ 'package.json': '{}\n' })
  s.daemon('start')
  s.run(['save'])
  s.run(['save'])
  expect(s.run(['status']).stdout).toContain(
    `Watched:      ${s.project} (process ${s.address()?.pid}`,
  )
  expect(s.daemon('status')).toMatchObject({ served: 2, projects: [{ path: s.project }] })
})

test('an error of the daemon is reported like one of the command itself', () => {
  using s = daemonScratch({ 'package.json': '{}\n', '.savestate.json': '{"maxFileMb": "x"}\n' })
  const alone = s.run(['save', '--json'])
  s.daemon('start')
  expect(s.run(['save', '--json'])).toEqual(alone)
  expect(alone.code).toBe(2)
  expect(s.daemon('status').served).toBe(1)
})

test('the daemon refuses a copy of its store, although the copy contains its address', () => {
  using s = daemonScratch({ 'package.json': '{}\n' })
  s.run(['save'])
  s.daemon('start')
  const copy = join(s.folder, 'copy')
  execFileSync('cp', ['-a', s.home, copy])
  s.write({ 'a.txt': 'new\n' })
  expect(s.run(['save', '-m', 'for the copy'], { env: { SAVESTATE_HOME: copy } }).code).toBe(0)
  expect(s.daemon('status').served).toBe(0)
  expect(s.run(['list']).stdout).not.toContain('for the copy')
  expect(s.run(['list'], { env: { SAVESTATE_HOME: copy } }).stdout).toContain('for the copy')
})

test('if the path of the store is too long for a socket, the socket is in a private folder elsewhere', () => {
  using s = daemonScratch({ 'package.json': '{}\n' })
  const home = join(s.folder, 'x'.repeat(120), 'store')
  mkdirSync(home, { recursive: true })
  const env = { SAVESTATE_HOME: home }
  const { pid, socket } = JSON.parse(s.run(['daemon', 'start', '--json'], { env }).stdout)
  try {
    expect(socket).toMatch(new RegExp(`^${join(s.folder, 'user')}/savestate-\\w{6}/socket$`))
    expect(s.run(['save'], { env }).code).toBe(0)
    expect(JSON.parse(s.run(['daemon', 'status', '--json'], { env }).stdout).served).toBe(1)
    expect(s.shell(`stat -c %a ${socket}; stat -c %a ${join(socket, '..')}`).stdout).toBe(
      '600\n700\n',
    )
    const folder = join(socket, '..')
    expect(
      s.shell(`chmod 755 ${folder}; savestate save; chmod 700 ${folder}`, { env }).stdout,
    ).toMatch(/^Nothing changed/)
    const { served } = JSON.parse(s.run(['daemon', 'status', '--json'], { env }).stdout)
    expect(served).toBe(1)
    expect(s.run(['daemon', 'stop'], { env }).code).toBe(0)
    expect(existsSync(folder)).toBe(false)
  } finally {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  }
})

function ran(s: DaemonScratch, { args, setting, write }: Step): Ended {
  if (write !== undefined) s.write(write)
  const { code, stdout, stderr } = s.run(args, setting)
  return { code, stdout: withoutChance(stdout), stderr: withoutChance(stderr) }
}

/** Ids and times, and values that depend on them, such as sizes. */
function withoutChance(text: string): string {
  return steady(text.replace(/\u001b\[(\d+)m/g, '<$1> '))
    .replace(/\b[0-9a-f]{40}\b/g, '<hash>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/[\d.]+ (?:KB|MB) on disk/g, '<size>')
}
