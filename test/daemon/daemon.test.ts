// The life of the daemon: one per store, ended when it should be, and no command lost silently or run twice.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import {
  checkpointsOf,
  daemonScratch,
  holdProject,
  isAlive,
  startServed,
  readStatus,
  until,
} from './daemon-helpers.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FILES = { 'package.json': '{}\n', 'a.txt': 'one\n' }

test('a second start finds the first daemon; stop ends it and leaves no files', () => {
  using s = daemonScratch(FILES)
  expect(s.daemon('status')).toEqual({ running: false })
  expect(s.daemon('stop')).toEqual({ running: false, stopped: false })
  const first = s.daemon('start')
  expect(first).toMatchObject({ running: true, started: true, served: 0 })
  expect(s.daemon('start')).toMatchObject({ started: false, pid: first.pid, port: null })
  expect(s.run(['daemon', 'status']).stdout).toContain(`process ${first.pid}, version `)
  const folder = join(s.home, 'daemon')
  const modes = ['.', ...readdirSync(folder)].map((name) => [
    name,
    (statSync(join(folder, name)).mode & 0o777).toString(8),
  ])
  expect(Object.fromEntries(modes)).toEqual({
    '.': '700',
    'address.json': '600',
    socket: '600',
  })
  expect(s.daemon('stop')).toEqual({ running: false, stopped: true })
  expect(readdirSync(folder)).toEqual([])
})

test('with --http a start replaces a daemon without a port; port and token stay the same from then on', () => {
  using s = daemonScratch(FILES)
  const without = s.daemon('start')
  expect(s.run(['daemon', 'status']).stdout).toContain('on no TCP port')
  const first = s.daemon('start', '--http')
  expect(first).toMatchObject({ started: true, port: expect.any(Number) })
  expect(isAlive(without.pid)).toBe(false)
  expect(s.daemon('start', '--http')).toMatchObject({ started: false, pid: first.pid })
  expect(s.run(['daemon', 'status']).stdout).toContain(`on TCP port ${first.port} of 127.0.0.1`)
  const file = join(s.home, 'daemon/http.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const token = readFileSync(file, 'utf8')
  s.daemon('stop')
  expect(s.daemon('start', '--http').port).toBe(first.port)
  expect(readFileSync(file, 'utf8')).toBe(token)
  expect(s.run(['daemon', 'stop', '--http'])).toMatchObject({ code: 2 })
})

test('ten concurrent starts make one daemon', async () => {
  using s = daemonScratch(FILES)
  const starts = Array.from({ length: 10 }, () => s.start(['daemon', 'start', '--json']))
  const answers = await Promise.all(starts.map(({ ended }) => ended))
  expect(answers.map(({ code, stderr }) => [code, stderr])).toEqual(answers.map(() => [0, '']))
  const results = answers.map(
    ({ stdout }) => JSON.parse(stdout) as { pid: number; started: boolean },
  )
  expect([...new Set(results.map(({ pid }) => pid))]).toEqual([s.address()?.pid])
  expect(results.filter(({ started }) => started)).toHaveLength(1)
})

test('after kill -9 commands work, and a start replaces the dead daemon', async () => {
  using s = daemonScratch(FILES)
  const { pid } = s.daemon('start')
  process.kill(pid, 'SIGKILL')
  await until(() => !isAlive(pid), 'the death of the daemon')
  expect(existsSync(join(s.home, 'daemon/socket'))).toBe(true)
  expect(s.run(['save']).code).toBe(0)
  expect(s.daemon('status')).toEqual({ running: false })
  expect(s.daemon('stop')).toEqual({ running: false, stopped: false })
  const next = s.daemon('start')
  expect(next).toMatchObject({ started: true })
  expect(next.pid).not.toBe(pid)
  expect(s.run(['save']).code).toBe(0)
  expect(s.daemon('status').served).toBe(1)
})

test('a daemon of another version is not used, and a start replaces it', async () => {
  using s = daemonScratch(FILES)
  const { pid } = s.daemon('start')
  // Another version of the program.
  const other = join(s.folder, 'other')
  mkdirSync(other)
  for (const part of ['dist/cli', 'dist/prebuilds'])
    cpSync(join(ROOT, part), join(other, part), { recursive: true })
  writeFileSync(join(other, 'package.json'), '{"version":"9.9.9"}')
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [join(other, 'dist/cli/bin.js'), ...args], {
      cwd: s.project,
      env: s.environment,
      encoding: 'utf8',
    })
  expect(run('save', '-m', 'by the other')).toContain('Saved')
  expect(s.daemon('status')).toMatchObject({ pid, served: 0 })
  const replaced = JSON.parse(run('daemon', 'start', '--json'))
  expect(replaced).toMatchObject({ started: true, version: '9.9.9' })
  expect(isAlive(pid)).toBe(false)
  expect(run('save')).toContain('Nothing changed')
  expect(JSON.parse(run('daemon', 'status', '--json')).served).toBe(1)
  const path = join(s.home, 'daemon/address.json')
  const old = { ...JSON.parse(readFileSync(path, 'utf8')), pid: process.pid }
  // A command that could use the daemon replaces an old one in the background; also one from before the clock was set back.
  for (const year of ['2020', '2120']) {
    const pid = s.address()?.pid ?? 0
    process.kill(pid, 'SIGKILL')
    await until(() => !isAlive(pid), 'the death of the other')
    writeFileSync(path, JSON.stringify({ ...old, startedAt: `${year}-01-01T00:00:00.000Z` }))
    expect(s.run(['save']).stdout).toContain('Nothing changed')
    await until(() => (s.address()?.pid ?? process.pid) !== process.pid, 'a daemon of this version')
  }
})

test('without requests it ends by itself and leaves no files', async () => {
  using s = daemonScratch(FILES)
  mkdirSync(s.home, { recursive: true, mode: 0o700 })
  writeFileSync(join(s.home, 'config.json'), '{"daemonIdleMinutes":0.01}')
  const { pid } = s.daemon('start')
  await until(() => !isAlive(pid), 'the end of an idle daemon')
  expect(readdirSync(join(s.home, 'daemon'))).toEqual([])
})

test('a stop waits for running work', async () => {
  using s = daemonScratch(FILES)
  s.run(['save'])
  const { pid } = s.daemon('start')
  s.write({ 'a.txt': 'two\n' })
  const hold = holdProject(s)
  const save = await startServed(s, ['save', '-m', 'under way'])
  const stop = s.start(['daemon', 'stop'])
  await until(() => s.address() === undefined, 'a daemon that is about to end')
  expect(isAlive(pid)).toBe(true)
  hold[Symbol.dispose]()
  expect(await save.ended).toMatchObject({ code: 0, stderr: '' })
  expect(await stop.ended).toMatchObject({ code: 0, stdout: 'The daemon has stopped.\n' })
  expect(s.run(['list']).stdout).toContain('under way')
})

test('Ctrl-C ends the command; the daemon finishes the save', async () => {
  using s = daemonScratch(FILES)
  s.run(['save'])
  s.daemon('start')
  s.write({ 'a.txt': 'two\n' })
  const hold = holdProject(s)
  const save = await startServed(s, ['save', '-m', 'to the end', '--json'])
  save.kill('SIGINT')
  const { code, stderr } = await save.ended
  expect([code, JSON.parse(stderr).error.code]).toEqual([130, 'INTERRUPTED'])
  hold[Symbol.dispose]()
  await until(async () => (await readStatus(s)).working === 0, 'the end of the work')
  expect(s.run(['list']).stdout).toContain('to the end')
})

test('if the daemon dies in the middle of a save, the command saves', async () => {
  using s = daemonScratch(FILES)
  s.run(['save'])
  const { pid } = s.daemon('start')
  s.write({ 'a.txt': 'two\n' })
  const hold = holdProject(s)
  const save = await startServed(s, ['save', '--json'])
  process.kill(pid, 'SIGKILL')
  hold[Symbol.dispose]()
  expect(await save.ended).toMatchObject({ code: 0, stderr: '' })
  expect(checkpointsOf(s)).toBe(2)
})

test('if the daemon hangs, the command does the work itself, once', async () => {
  using s = daemonScratch(FILES)
  const { pid } = s.daemon('start')
  process.kill(pid, 'SIGSTOP')
  try {
    expect(s.run(['save', '-m', 'once'])).toMatchObject({ code: 0, stderr: '' })
    const { code, stderr } = s.run(['daemon', 'stop', '--json'])
    expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'DAEMON_FAILED'])
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  await until(
    async () => (await readStatus(s)).working === 0,
    'a daemon that has read what it was asked',
  )
  expect(s.daemon('status').served).toBe(0)
  expect(checkpointsOf(s)).toBe(1)
})

test('a hanging daemon is reported with its process id and a hint', async () => {
  using s = daemonScratch(FILES)
  expect(s.json(['daemon', 'status'])).toEqual({ running: false })
  const { pid } = s.daemon('start')
  expect(s.run(['daemon', 'run'])).toEqual({
    code: 3,
    stdout: `Process ${pid} is already the daemon of this store. See: savestate daemon status\n`,
    stderr: '',
  })
  process.kill(pid, 'SIGSTOP')
  try {
    expect(s.json(['daemon', 'status'])).toEqual({ running: false, unresponsive: { pid } })
    const { stdout } = s.run(['daemon', 'status'])
    expect(stdout).toContain(`The daemon, process ${pid}, does not answer.`)
    expect(stdout).toContain(`kill -9 ${pid}`)
    for (const action of ['start', 'stop']) {
      const { code, stderr } = s.run(['daemon', action, '--json'])
      expect([code, JSON.parse(stderr).error]).toEqual([
        2,
        {
          code: 'DAEMON_FAILED',
          message: `The daemon, process ${pid}, does not answer`,
          hint: expect.stringContaining(`kill -9 ${pid}`),
        },
      ])
    }
  } finally {
    process.kill(pid, 'SIGKILL')
  }
  await until(() => !isAlive(pid), 'its end')
  expect(s.json(['daemon', 'status'])).toEqual({ running: false })
})

test('the address of a dead daemon is ignored even if another program has its process id', () => {
  using s = daemonScratch(FILES)
  const { pid } = s.daemon('start')
  const path = join(s.home, 'daemon', 'address.json')
  const address = readFileSync(path, 'utf8')
  s.daemon('stop')
  writeFileSync(path, address.replace(String(pid), String(process.pid)), { mode: 0o600 })
  expect(s.json(['daemon', 'status'])).toEqual({ running: false })
  expect(s.json(['daemon', 'stop'])).toEqual({ running: false, stopped: false })
})

test('a project that disappears and reappears does not disturb the daemon', () => {
  using s = daemonScratch(FILES)
  s.daemon('start')
  const save = () => s.run(['-C', s.project, 'save', '--json'], { cwd: '/' })
  expect(save().code).toBe(0)
  rmSync(s.project, { recursive: true })
  const { code, stderr } = save()
  expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'PROJECT_MISSING'])
  s.write({ ...FILES, 'b.txt': 'new\n' })
  expect(JSON.parse(save().stdout)).toMatchObject({ created: true, files: 1 })
  expect(s.daemon('status').served).toBe(2)
})

test('clear, repair and rekey get exclusive access to the store', () => {
  using s = daemonScratch(FILES)
  s.run(['save'])
  const first = s.daemon('start').pid
  expect(s.run(['repair', '-y'])).toMatchObject({
    code: 0,
    stdout: 'There is nothing to repair.\n',
  })
  expect(isAlive(first)).toBe(false)
  const second = s.daemon('start').pid
  const env = { SAVESTATE_NEW_KEY: 'ab'.repeat(32) }
  expect(s.run(['rekey', '-y'], { env })).toMatchObject({ code: 0, stderr: '' })
  expect(isAlive(second)).toBe(false)
  const third = s.daemon('start').pid
  expect(s.run(['prune', '-y']).code).toBe(0)
  expect(s.run(['save']).stdout).toContain('Nothing changed')
  expect(s.daemon('status')).toMatchObject({ pid: third, served: 1 })
  expect(s.run(['clear', '--all', '-f']).code).toBe(0)
  expect(isAlive(third)).toBe(false)
  expect(checkpointsOf(s)).toBe(0)
})

test('when its store is removed, it ends', async () => {
  using s = daemonScratch(FILES)
  const { pid } = s.daemon('start')
  rmSync(s.home, { recursive: true })
  await until(() => !isAlive(pid), 'the end of a daemon without a store')
  expect(existsSync(s.home)).toBe(false)
})

test('it ends when its socket is removed, and the next start works', async () => {
  using s = daemonScratch(FILES)
  const { pid } = s.daemon('start')
  rmSync(join(s.home, 'daemon/socket'))
  await until(() => !isAlive(pid), 'the end of a daemon without a socket')
  expect(s.daemon('start')).toMatchObject({ started: true })
})

test('when the ledger is replaced by a restored copy, commands use the new one and the daemon ends', async () => {
  using s = daemonScratch(FILES)
  s.run(['save', '-m', 'kept'])
  const ledger = join(s.home, 'ledger.db')
  cpSync(ledger, `${ledger}.copy`)
  const { pid } = s.daemon('start')
  s.write({ 'a.txt': 'two\n' })
  s.run(['save', '-m', 'lost'])
  for (const end of ['-wal', '-shm']) rmSync(ledger + end)
  renameSync(`${ledger}.copy`, ledger)
  const reasons = () =>
    (s.json(['list']) as { checkpoints: readonly { reason: string }[] }).checkpoints.map(
      ({ reason }) => reason,
    )
  expect(reasons()).toEqual(['kept'])
  expect(s.run(['save', '-m', 'new']).code).toBe(0)
  await until(() => !isAlive(pid), 'the end of the daemon')
  expect(reasons()).toEqual(['new', 'kept'])
})

test('a signal ends it cleanly, and start reports a store that cannot be opened', async () => {
  using s = daemonScratch(FILES)
  const { pid } = s.daemon('start')
  process.kill(pid, 'SIGTERM')
  await until(() => !isAlive(pid), 'the end of the daemon')
  expect(readdirSync(join(s.home, 'daemon'))).toEqual([])
  writeFileSync(join(s.home, 'format'), 'savestate 99\n')
  const { code, stderr } = s.run(['daemon', 'start', '--json'])
  expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'STORE_NEWER'])
  expect(s.run(['daemon', 'fly']).code).toBe(2)
})
