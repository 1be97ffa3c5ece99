// `GET /api/events`: a line of JSON per event, as long as the page is open. One watch of the store serves all pages, and ends with
// the last of them.
import type { ServerResponse } from 'node:http'
import type { PageEvent } from '../api.js'
import { SECURITY_HEADERS } from './answer.js'

/** At most four times a second: the page asks for rows after each one. */
const MIN_PAUSE_MS = 250
/** After a failed watch. */
const RESTART_MS = 1000

type EventOptions = {
  /** The pause between two signs of life. */
  readonly aliveMs: number
  /** Calls `notifyChanged` for each change until the signal. Started again if it rejects. */
  readonly watch: (signal: AbortSignal) => Promise<void>
  readonly report: (error: unknown) => void
}

export class EventStreams {
  readonly #open = new Set<ServerResponse>()
  readonly #alive: NodeJS.Timeout
  #pause: NodeJS.Timeout | undefined
  #isMissed = false
  #isClosed = false
  readonly #watch: EventOptions['watch']
  readonly #report: EventOptions['report']
  #watching: { readonly end: () => void; readonly ended: Promise<void> } | undefined

  constructor({ aliveMs, watch, report }: EventOptions) {
    this.#watch = watch
    this.#report = report
    this.#alive = setInterval(() => this.#send({ type: 'alive' }), aliveMs)
    this.#alive.unref()
  }

  /** Streams until the client leaves or the server ends. The first line arrives at once. */
  add(response: ServerResponse, onClose: () => void): void {
    // The client may leave, or the server end, while the store is being opened. Then 'close' would never come.
    if (response.destroyed || this.#isClosed) {
      response.end()
      onClose()
      return
    }
    response.writeHead(200, {
      ...SECURITY_HEADERS,
      'Content-Type': 'application/x-ndjson',
      'Cache-Control': 'no-store',
    })
    this.#open.add(response)
    this.#watching ??= this.#startWatch()
    response.once('close', () => {
      this.#open.delete(response)
      if (this.#open.size === 0) this.#endWatch()
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

  /** Returns when nothing uses the store any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#alive)
    clearTimeout(this.#pause)
    const ended = this.#watching?.ended
    this.#endWatch()
    for (const response of this.#open) response.end()
    await ended
  }

  #startWatch() {
    const ending = new AbortController()
    const ended = this.#watchUntil(ending.signal)
    return { end: () => ending.abort(), ended }
  }

  /** A page without events would look up to date for ever. Equal errors in a row are reported once. */
  async #watchUntil(signal: AbortSignal): Promise<void> {
    let reported = ''
    while (!signal.aborted) {
      try {
        await this.#watch(signal)
        return
      } catch (error) {
        if (String(error) !== reported) this.#report(error)
        reported = String(error)
        await pauseFor(RESTART_MS, signal)
        // The changes meanwhile were missed.
        if (!signal.aborted) this.notifyChanged()
      }
    }
  }

  #endWatch(): void {
    this.#watching?.end()
    this.#watching = undefined
  }

  #send(event: PageEvent): void {
    for (const response of this.#open) response.write(line(event))
  }
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    signal.addEventListener('abort', end, { once: true })
  })
}

function line(event: PageEvent): string {
  return `${JSON.stringify(event)}\n`
}
