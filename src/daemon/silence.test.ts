// Both ends of the Unix socket while a command is carried out: one that works says so, and one that says nothing is left.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { talk } from './client.js'
import type { Line } from './lines.js'
import { socketServer } from './socket-server.js'
import { Workload } from './workload.js'

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

test('a daemon that falls silent at work is left after a while', async () => {
  const server = await listening(createServer((connection) => connection.write('{"ready":true}\n')))
  const lines: Line[] = []
  const heard = { first: { do: 'run' }, onLine: (line: Line) => void lines.push(line) }
  expect(await talk({ socket }, { ...heard, silenceMs: 10 })).toBe('closed')
  expect(lines).toEqual([{ ready: true }])
  server.close()
})

test('a daemon that is at work for long says so from time to time', async () => {
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
      run: async () => async () => finished.then(() => 7),
      status: () => ({}),
      isStopping: () => false,
      log: () => undefined,
      stop: () => undefined,
    }),
  )
  const lines: Line[] = []
  const call = { argv: [], folder: '/', stdout: {}, stderr: {}, env: {} }
  await talk(
    { socket },
    {
      first: { do: 'run', build: 'b', home, setting: 's', ...call },
      onLine(line, { say }) {
        lines.push(line)
        if (line['ready'] === true) say({ go: true })
        if (lines.length === 1) untilBeating()
        if (lines.length === 3) finish()
      },
    },
  )
  expect(lines).toEqual([{ ready: true }, { working: true }, { working: true }, { exit: 7 }])
  expect(vi.getTimerCount()).toBe(0)
  server.close()
})

/** The beat begins when the other end has read `go`. */
function untilBeating(): void {
  if (vi.getTimerCount() === 0) setImmediate(untilBeating)
  else vi.advanceTimersByTime(10_000)
}
