// The connections of a server. At the end who has been answered gets the whole answer, and nobody keeps the process from ending.
import type { Server, Socket } from 'node:net'

/** Whoever has not taken an answer by then is asleep. */
const TAKE_MS = 5000

export class Connections {
  readonly #open = new Set<Socket>()

  constructor(server: Server) {
    server.on('connection', (connection) => {
      this.#open.add(connection)
      connection.once('close', () => this.#open.delete(connection))
    })
  }

  /** Those that stay are left as they are. */
  async end({ but: staying }: { readonly but: readonly Socket[] }): Promise<void> {
    const ending = [...this.#open].filter((connection) => !staying.includes(connection))
    await Promise.all(ending.map(ended))
  }
}

function ended(connection: Socket): Promise<void> {
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
