// Both ends of the Unix socket while the daemon works: it sends heartbeats, and a caller leaves a silent daemon.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { exchange } from '../../../src/daemon/client/request.js'
import type { Line } from '../../../src/daemon/json-lines.js'
import { socketServer } from '../../../src/daemon/server/socket-server.js'
import { Workload } from '../../../src/daemon/server/workload.js'

let home: string
let socket: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-silence-')))
  socket = join(home, 'socket')
})

afterEach(() => {
  vi.useRealTimers()
  rmSync(home, { recursive: true })
})

const listening = (server: Server) =>
  new Promise<Server>((resolve) => server.listen(socket, () => resolve(server)))

test('a caller leaves a daemon that stops reporting', async () => {
  const server = await listening(createServer((connection) => connection.write('{"ready":true}\n')))
  const lines: Line[] = []
  const heard = { first: { do: 'hook' }, onLine: (line: Line) => void lines.push(line) }
  expect(await exchange({ socket }, { ...heard, silenceMs: 10 })).toBe(true)
  expect(lines).toEqual([{ ready: true }])
  server.close()
})

test('the daemon reports from time to time that it is working', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let finish = (): void => undefined
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const server = await listening(
    socketServer({
      build: 'b',
      home,
      setting: 's',
      work: new Workload(),
      workFor: () => () => finished.then(() => ({ exitCode: 7 })),
      status: () => ({}),
      isStopping: () => false,
      log: () => undefined,
      stop: () => undefined,
    }),
  )
  const lines: Line[] = []
  const call = { folder: '/', agent: 'claude', eventName: 'Stop' }
  await exchange(
    { socket },
    {
      first: { do: 'hook', build: 'b', home, setting: 's', ...call },
      onLine(line, { send }) {
        lines.push(line)
        if (line['ready'] === true) send({ go: true })
        if (lines.length === 1) untilBeating()
        if (lines.length === 3) finish()
      },
    },
  )
  expect(lines).toEqual([
    { ready: true },
    { working: true },
    { working: true },
    { answer: { exitCode: 7 } },
  ])
  expect(vi.getTimerCount()).toBe(0)
  server.close()
})

/** The heartbeat starts when the daemon has read `go`. */
function untilBeating(): void {
  if (vi.getTimerCount() === 0) setImmediate(untilBeating)
  else vi.advanceTimersByTime(10_000)
}
