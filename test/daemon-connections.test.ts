// What the daemon has to do with whoever is slow to take what it says, or takes nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from './own-sqlite.js'
import { expect, test } from 'vitest'
import { type DaemonScratch, daemonScratch, isAlive, told, until } from './daemon-helpers.js'

test('a stop ends the process also while somebody does not take an answer', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  // More than the socket buffers.
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  ledger
    .prepare('INSERT INTO failures (at, operation, code, message) VALUES (?, ?, ?, ?)')
    .run(Date.now(), 'save', 'DISK_FULL', 'x'.repeat(2_000_000))
  ledger.close()
  const { pid } = s.daemon('start')
  const { served } = await told(s)
  using reader = callSocket(s, ['status', '--json'])
  expect(await reader.answer).toEqual({ ready: true })
  await until(async () => (await told(s)).served > served, 'a command that has begun')
  expect(s.daemon('stop')).toMatchObject({ stopped: true })
  await until(() => !isAlive(pid), 'the end of the process')
  expect(isAlive(reader.pid)).toBe(true)
})

test('the daemon serves nothing that writes to a project, whatever its caller says of itself', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  s.write({ 'a.txt': 'two\n' })
  s.daemon('start')
  const refused = ['rewind 1 -y', 'restore 1 -y', 'undo -y', 'redo -y', 'forget a.txt -y', 'list']
  for (const line of refused) {
    using caller = callSocket(s, line.split(' '))
    expect([line, await caller.answer]).toEqual([line, { refused: 'command' }])
  }
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
})

/** Asks the daemon to run a command, as a program of an agent in a sandbox can; reads its first answer and nothing more. */
function callSocket(
  s: DaemonScratch,
  argv: readonly string[],
): Disposable & { readonly pid: number; readonly answer: Promise<unknown> } {
  const script = `
    const [address, folder, home, ...argv] = process.argv.slice(1)
    const { socket, build } = JSON.parse(address)
    const [{ readlinkSync, statSync }, { homedir, tmpdir }, { connect }] =
      ['node:fs', 'node:os', 'node:net'].map((name) => process.getBuiltinModule(name))
    const mounts = process.platform === 'linux' ? readlinkSync('/proc/self/ns/mnt') : null
    const who = [process.getuid(), process.getegid(), process.getgroups()]
    const { dev, ino } = statSync('/', { bigint: true })
    const root = [dev, ino].join(' ')
    const { TZ = null } = process.env
    const setting = JSON.stringify([...who, mounts, root, TZ, homedir(), tmpdir()])
    const call = { do: 'run', build, home, setting, argv, folder, stdout: {}, stderr: {}, env: {} }
    const connection = connect(socket)
    connection.write(JSON.stringify(call) + '\\n')
    connection.once('data', (line) => {
      process.stdout.write(line)
      connection.pause().write('{"go":true}\\n')
    })
    setInterval(() => undefined, 1000)`
  const address = JSON.stringify(s.address())
  const child = spawn(process.execPath, ['-e', script, address, s.project, s.home, ...argv], {
    env: { ...s.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const answer = once(child.stdout, 'data').then(([line]) => JSON.parse(String(line)) as unknown)
  return { pid: child.pid ?? 0, answer, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}
