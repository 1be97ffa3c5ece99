// What the daemon has to do with whoever is slow to take what it says, or takes nothing.
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { type DaemonScratch, daemonScratch, isAlive, told, until } from './daemon-helpers.js'

test('a stop ends the process also while somebody does not take an answer', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  s.write({ 'a.txt': 'another line\n'.repeat(200_000) })
  const { pid } = s.daemon('start')
  using reader = await startReader(s, ['diff', '1'])
  expect(s.daemon('stop')).toMatchObject({ stopped: true })
  await until(() => !isAlive(pid), 'the end of the process')
  expect(isAlive(reader.pid)).toBe(true)
})

/** Has the daemon carry out a command, and reads nothing of what it says. */
async function startReader(
  s: DaemonScratch,
  argv: readonly string[],
): Promise<Disposable & { readonly pid: number }> {
  const { served } = await told(s)
  const script = `
    const [address, folder, home, ...argv] = process.argv.slice(1)
    const { socket, build } = JSON.parse(address)
    const [{ readlinkSync, statSync }, { homedir, tmpdir }, { connect }] =
      ['node:fs', 'node:os', 'node:net'].map((name) => process.getBuiltinModule(name))
    const mounts = process.platform === 'linux' ? readlinkSync('/proc/self/ns/mnt') : null
    const who = [process.getuid(), process.getegid(), process.getgroups()]
    const { dev, ino } = statSync('/', { bigint: true })
    const root = [dev, ino].join(' ')
    const git = Object.entries(process.env)
      .filter(([name]) => /^(XDG_CONFIG_HOME$|GIT_(CONFIG|ATTR)_)/.test(name))
      .map((entry) => entry.join('='))
      .sort()
    const { TZ = null } = process.env
    const setting = JSON.stringify([...who, mounts, root, TZ, git, homedir(), tmpdir()])
    const call = { do: 'run', build, home, setting, argv, folder, stdout: {}, stderr: {}, env: {} }
    const connection = connect(socket)
    connection.write(JSON.stringify(call) + '\\n')
    connection.once('data', () => connection.pause().write('{"go":true}\\n'))
    setInterval(() => undefined, 1000)`
  const address = JSON.stringify(s.address())
  const child = spawn(process.execPath, ['-e', script, address, s.project, s.home, ...argv], {
    env: { ...s.environment },
    stdio: 'ignore',
  })
  const reader = { pid: child.pid ?? 0, [Symbol.dispose]: () => void child.kill('SIGKILL') }
  await until(async () => (await told(s)).served > served, 'a command that has begun')
  return reader
}
