// `GET /api/events`: a line of JSON per event, as long as the page is open. One watch of the store serves all pages.
import type { ServerResponse } from 'node:http'
import type { PageEvent } from '../api.js'
import { SECURITY_HEADERS } from './answer.js'

/** At most four times a second: the page asks for rows after each one. */
const MIN_PAUSE_MS = 250

export class EventStreams {
  readonly #open = new Set<ServerResponse>()
  readonly #alive: NodeJS.Timeout
  #pause: NodeJS.Timeout | undefined
  #isMissed = false

  constructor({ aliveMs }: { readonly aliveMs: number }) {
    this.#alive = setInterval(() => this.#send({ type: 'alive' }), aliveMs)
    this.#alive.unref()
  }

  /** Streams until the client leaves or the server ends. The first line arrives at once. */
  add(response: ServerResponse, onClose: () => void): void {
    response.writeHead(200, {
      ...SECURITY_HEADERS,
      'Content-Type': 'application/x-ndjson',
      'Cache-Control': 'no-store',
    })
    this.#open.add(response)
    response.once('close', () => {
      this.#open.delete(response)
      onClose()
    })
    response.write(line({ type: 'alive' }))
  }

  /** The store has changed. Changes that follow quickly are sent as one. */
  notifyChanged(): void {
    if (this.#pause !== undefined) {
      this.#isMissed = true
      return
    }
    this.#send({ type: 'changed' })
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      if (!this.#isMissed) return
      this.#isMissed = false
      this.notifyChanged()
    }, MIN_PAUSE_MS)
    this.#pause.unref()
  }

  close(): void {
    clearInterval(this.#alive)
    clearTimeout(this.#pause)
    for (const response of this.#open) response.end()
  }

  #send(event: PageEvent): void {
    for (const response of this.#open) response.write(line(event))
  }
}

function line(event: PageEvent): string {
  return `${JSON.stringify(event)}\n`
}
