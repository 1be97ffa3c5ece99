// The connections of a server. On shutdown, flushes pending answers without waiting for slow clients.
import type { Server, Socket } from 'node:net'

/** A client that has not read its answer by then is suspended. */
const TAKE_MS = 5000

export class Connections {
  readonly #open = new Set<Socket>()

  constructor(server: Server) {
    server.on('connection', (connection) => {
      this.#open.add(connection)
      connection.once('close', () => this.#open.delete(connection))
    })
  }

  /** Leaves the connections in `except` open. */
  async end({ except }: { readonly except: readonly Socket[] }): Promise<void> {
    const ending = [...this.#open].filter((connection) => !except.includes(connection))
    await Promise.all(ending.map(endConnection))
  }
}

function endConnection(connection: Socket): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      connection.destroy()
      resolve()
    }
    const timer = setTimeout(end, TAKE_MS)
    connection.once('close', end)
    if (connection.writableLength === 0) end()
    else connection.end(end)
  })
}
