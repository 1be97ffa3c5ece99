// A TCP proxy that behaves like a bad network: cut, stalled, slow, half-open, or losing one answer.
import { connect, createServer, type Socket } from 'node:net'

export type TcpProxy = {
  readonly port: number
  /** Ends all connections, and refuses new ones until `resume`. */
  cut(): void
  /** Forwards nothing in either direction until `resume`; connections stay. */
  stall(): void
  resume(): void
  /** The server's ends are closed, and the clients do not learn it. New connections work. Returns how many there were. */
  halfOpen(): number
  /** Adds this time to every round trip. */
  delay(roundTripMs: number): void
  /**
   * Drops the next answer of the server, or the next one that fits, and cuts its connection. Resolves when that has happened.
   * `to` is in the statement, `saying` in the answer.
   */
  dropAnswer(which?: { readonly to?: string; readonly saying?: string }): Promise<void>
  /** Calls `act` when a client sends a statement with this text, before the statement is forwarded. */
  before(text: string, act: () => void): void
  /** How often a client sent something after it got an answer. */
  readonly roundTrips: number
  readonly sentBytes: number
  readonly receivedBytes: number
  /** How many connections clients have opened. */
  readonly connections: number
  /** Everything that clients have sent. */
  readonly sent: () => Buffer
  dispose(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

type Pair = {
  readonly client: Socket
  readonly server: Socket
  isSilent: boolean
  isAsking: boolean
  /** The bytes that the client has sent since the last answer. */
  asked: string
}

export async function startProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  const sent: Buffer[] = []
  let isCut = false
  let delayMs = 0
  let dropping:
    | { readonly to: string; readonly saying: string; readonly done: () => void }
    | undefined
  let planned: { readonly text: string; readonly act: () => void } | undefined
  let stalled: { readonly end: Promise<void>; resolve: () => void } | undefined
  const counts = { roundTrips: 0, sent: 0, received: 0, connections: 0 }

  const end = (pair: Pair) => {
    pairs.delete(pair)
    pair.client.destroy()
    pair.server.destroy()
  }

  /** In order, however long a chunk waits. */
  const forward = (pair: Pair, to: Socket) => {
    let before = Promise.resolve()
    return (chunk: Buffer) => {
      const due = delayMs === 0 ? undefined : new Promise((r) => setTimeout(r, delayMs / 2))
      before = before.then(async () => {
        await due
        await stalled?.end
        if (!pair.isSilent && !to.destroyed) to.write(chunk)
      })
    }
  }

  const listener = createServer((client) => {
    if (isCut) {
      client.resetAndDestroy()
      return
    }
    const server = connect(target)
    const pair: Pair = { client, server, isSilent: false, isAsking: false, asked: '' }
    pairs.add(pair)
    counts.connections++
    const [up, down] = [forward(pair, server), forward(pair, client)]
    client.on('data', (chunk: Buffer) => {
      if (!pair.isAsking) {
        counts.roundTrips++
        pair.asked = ''
      }
      pair.isAsking = true
      if (dropping !== undefined) pair.asked += chunk.toString('latin1')
      counts.sent += chunk.length
      sent.push(chunk)
      if (planned !== undefined && chunk.includes(planned.text)) {
        planned.act()
        planned = undefined
      }
      up(chunk)
    })
    server.on('data', (chunk: Buffer) => {
      pair.isAsking = false
      counts.received += chunk.length
      const isMeant =
        dropping !== undefined &&
        pair.asked.includes(dropping.to) &&
        chunk.includes(dropping.saying)
      if (!isMeant) {
        down(chunk)
        return
      }
      dropping?.done()
      dropping = undefined
      end(pair)
    })
    for (const socket of [client, server]) {
      socket.setNoDelay(true)
      // The other end has gone, which is what this proxy is for.
      socket.on('error', () => undefined)
      socket.on('close', () => {
        if (!pair.isSilent) end(pair)
      })
    }
  })
  listener.listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('no port')

  const proxy: TcpProxy = {
    port: address.port,
    cut() {
      isCut = true
      for (const pair of pairs) end(pair)
    },
    stall() {
      if (stalled !== undefined) return
      let resolve = (): void => undefined
      const end = new Promise<void>((r) => {
        resolve = r
      })
      stalled = { end, resolve }
    },
    resume() {
      isCut = false
      stalled?.resolve()
      stalled = undefined
    },
    halfOpen() {
      const open = [...pairs].filter(({ isSilent }) => !isSilent)
      for (const pair of open) {
        pair.isSilent = true
        pair.server.destroy()
      }
      return open.length
    },
    delay(roundTripMs) {
      delayMs = roundTripMs
    },
    dropAnswer({ to = '', saying = '' } = {}) {
      return new Promise((resolve) => {
        dropping = { to, saying, done: resolve }
      })
    },
    before(text, act) {
      planned = { text, act }
    },
    get roundTrips() {
      return counts.roundTrips
    },
    get sentBytes() {
      return counts.sent
    },
    get connections() {
      return counts.connections
    },
    get receivedBytes() {
      return counts.received
    },
    sent: () => Buffer.concat(sent),
    async dispose() {
      proxy.resume()
      proxy.cut()
      await new Promise((resolve) => listener.close(resolve))
    },
    [Symbol.asyncDispose]: () => proxy.dispose(),
  }
  return proxy
}
