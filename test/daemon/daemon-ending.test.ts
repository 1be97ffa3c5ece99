// A daemon that is ending, as seen by its callers.
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { daemonScratch, holdProject, isAlive, startServed, until } from './daemon-helpers.js'

test('a second stop, and commands that need exclusive access, also wait until the daemon has ended', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  s.daemon('start')
  s.write({ 'a.txt': 'two\n' })
  const hold = holdProject(s)
  const save = await startServed(s, ['save'])
  const first = s.start(['daemon', 'stop'])
  await until(() => s.address() === undefined, 'a daemon that is about to end')
  const others = [s.start(['daemon', 'stop']), s.start(['clear', '--all', '-y'])]
  const over = others.map(({ ended }) => ended.then(() => 'over'))
  expect(await Promise.race([...over, sleep(1000, 'waiting')])).toBe('waiting')
  hold[Symbol.dispose]()
  const stopped = { code: 0, stdout: 'The daemon has stopped.\n', stderr: '' }
  expect([await first.ended, await others[0]?.ended]).toEqual([stopped, stopped])
  expect(await save.ended).toMatchObject({ code: 0 })
  expect(await others[1]?.ended).toMatchObject({ code: 0 })
})

test('an inaccessible store ends the daemon, which still answers its callers', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  const { pid, port } = s.daemon('start', '--http')
  const { token } = JSON.parse(readFileSync(join(s.home, 'daemon/http.json'), 'utf8'))
  using _hold = holdProject(s)
  const save = await startServed(s, ['save', '--json'])
  renameSync(s.home, `${s.home}-away`)
  // Leads to itself.
  symlinkSync(s.home, s.home)
  try {
    const { status } = await fetch(`http://127.0.0.1:${port}/v1/status`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(3000),
    })
    expect(status).toBe(503)
    expect(await save.ended).toMatchObject({ code: 2 })
    await until(() => !isAlive(pid), 'its end')
  } finally {
    rmSync(s.home)
    renameSync(`${s.home}-away`, s.home)
  }
})

test('unreadable settings do not end the daemon', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  const config = join(s.home, 'config.json')
  // So it checks every two seconds.
  writeFileSync(config, '{"daemonIdleMinutes": 0.03}')
  s.write({ 'a.txt': 'two\n' })
  const hold = holdProject(s)
  const { pid } = s.daemon('start')
  const save = await startServed(s, ['save'])
  rmSync(config)
  // Leads to itself.
  symlinkSync(config, config)
  await sleep(2200)
  expect(isAlive(pid)).toBe(true)
  rmSync(config)
  hold[Symbol.dispose]()
  expect(await save.ended).toMatchObject({ code: 0, stderr: '' })
})
