// Callers that read slowly or not at all, and callers that ask for more than the daemon does.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environmentFingerprint } from '../../src/daemon/index.js'
import { type DaemonScratch, daemonScratch, isAlive, readStatus, until } from './daemon-helpers.js'

test('a stop ends the process although a caller does not read its answer', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  s.write({ 'a.txt': 'two\n' })
  const { pid } = s.daemon('start')
  const { served } = await readStatus(s)
  // More than the socket buffers.
  using reader = callSocket(s, { do: 'save', input: { reason: 'x'.repeat(900_000) } })
  expect(await reader.answer).toEqual({ ready: true })
  await until(async () => (await readStatus(s)).served > served, 'a save that has started')
  expect(s.daemon('stop')).toMatchObject({ stopped: true })
  await until(() => !isAlive(pid), 'the end of the process')
  expect(isAlive(reader.pid)).toBe(true)
})

test('the daemon never writes to a project, whatever the caller requests', async () => {
  using s = daemonScratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  s.write({ 'a.txt': 'two\n' })
  s.daemon('start')
  for (const name of ['rewind', 'restore', 'undo', 'redo', 'forget', 'list', 'run']) {
    using caller = callSocket(s, { do: name, argv: [name, '1', '-y'] })
    expect([name, await caller.answer]).toEqual([name, { refused: 'request' }])
  }
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
})

/** Sends a request, as an agent in a sandbox can, and reads only the first answer. */
function callSocket(
  s: DaemonScratch,
  request: object,
): Disposable & { readonly pid: number; readonly answer: Promise<unknown> } {
  const script = `
    let text = ''
    process.stdin.on('data', (part) => (text += part))
    process.stdin.on('end', () => {
      const { socket, ...call } = JSON.parse(text)
      const connection = process.getBuiltinModule('node:net').connect(socket)
      connection.write(JSON.stringify(call) + '\\n')
      connection.once('data', (line) => {
        process.stdout.write(line)
        connection.pause().write('{"go":true}\\n')
      })
    })
    setInterval(() => undefined, 1000)`
  const { socket, build } = { build: '', socket: '', ...s.address() }
  const own = JSON.parse(environmentFingerprint(s.environment)) as unknown[]
  const setting = JSON.stringify([...own.slice(0, 5), s.environment['HOME'], ...own.slice(6)])
  const call = { socket, build, setting, home: s.home, folder: s.project, ...request }
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(call))
  const answer = once(child.stdout, 'data').then(([line]) => JSON.parse(String(line)) as unknown)
  return { pid: child.pid ?? 0, answer, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}
