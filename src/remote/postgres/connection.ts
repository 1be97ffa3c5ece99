// One connection per process: opened when it is needed, used by one statement at a time, closed when it is idle. A connection that does not
// answer in time is destroyed, because its state is unknown: whether the statement was executed is found out by sending it again.
import { Socket } from 'node:net'
import process from 'node:process'
import type { Client, ClientConfig } from 'pg'
import { hasCode } from '../../base/index.js'
import { SavestateError } from '../../model/index.js'
import { findPassword } from './password-file.js'
import type { PostgresTarget } from './postgres-url.js'
import { noAnswer, type Queries, type Query, type Row, rowsOf, timeoutOf } from './queries.js'

const IDLE_MS = 30_000
const CONNECT_TIMEOUT_MS = 5000
const KEEPALIVE_MS = 10_000
const CLOSE_TIMEOUT_MS = 1000

export type Pg = { readonly Client: new (config: ClientConfig) => Client }

type Open = {
  readonly client: Client
  readonly socket: Socket
  isUsable: boolean
  usedAtMs: number
}

/** `pg` is an optional peer: only users of PostgreSQL install it. */
export async function loadPg(
  load: () => Promise<{ readonly default: Pg }> = () => import('pg'),
): Promise<Pg> {
  try {
    return (await load()).default
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND')) throw error
    throw new SavestateError('BAD_INPUT', 'A remote in PostgreSQL needs the package pg', {
      hint: 'Run `npm install pg` beside savestate; with a global savestate, `npm install -g pg`.',
      cause: error,
    })
  }
}

export class PostgresConnection implements Queries {
  readonly #pg: Pg
  readonly #target: PostgresTarget
  readonly #timeoutMs: number
  #open: Open | undefined
  #idle: NodeJS.Timeout | undefined
  /** Ends when the statement before has ended. */
  #tail: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(pg: Pg, target: PostgresTarget, { timeoutMs }: { readonly timeoutMs: number }) {
    this.#pg = pg
    this.#target = target
    this.#timeoutMs = timeoutMs
  }

  /** The time limit includes the wait for other statements, so that a server that hangs fails all callers together. */
  async query(query: Query): Promise<readonly Row[]> {
    const timeoutMs = timeoutOf(query, this.#timeoutMs)
    const before = this.#tail
    let finish = (): void => undefined
    const own = new Promise<void>((resolve) => {
      finish = resolve
    })
    this.#tail = before.then(() => own)
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(noAnswer(this.#target.label, timeoutMs)), timeoutMs)
    try {
      await orAbort(before, late.signal)
      return await this.#run(query, late.signal)
    } finally {
      clearTimeout(timer)
      finish()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#tail
    await this.#disconnect()
  }

  async #run({ text, values }: Query, late: AbortSignal): Promise<readonly Row[]> {
    const open = await this.#connect(late)
    clearTimeout(this.#idle)
    open.socket.ref()
    try {
      const config = { text, ...(values === undefined ? {} : { values: [...values] }) }
      const { rows } = await orAbort(open.client.query(config), late)
      return rowsOf(rows)
    } catch (error) {
      if (late.aborted) this.#destroy(open)
      throw error
    } finally {
      open.usedAtMs = Date.now()
      open.socket.unref()
      this.#idle = setTimeout(() => void this.#disconnect(), IDLE_MS)
      this.#idle.unref()
    }
  }

  async #connect(late: AbortSignal): Promise<Open> {
    if (this.#isClosed)
      throw new SavestateError('STORE_CLOSED', `The remote ${this.#target.label} was closed`)
    const known = this.#open
    // After a sleep of the machine the timer has not fired yet, and the server or a firewall may have forgotten the connection.
    if (known !== undefined && known.isUsable && Date.now() - known.usedAtMs < IDLE_MS) return known
    if (known !== undefined) this.#destroy(known)
    const socket = new Socket()
    const { login, ssl } = this.#target
    const client: Client = new this.#pg.Client({
      ...(process.env['PGPASSWORD'] === undefined
        ? { password: () => findPassword(client) ?? '' }
        : {}),
      ...login,
      ssl,
      stream: () => socket,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      fallback_application_name: 'savestate',
    })
    const open: Open = { client, socket, isUsable: true, usedAtMs: Date.now() }
    // pg reports a broken connection here, and to the statement that is running, if there is one.
    client.on('error', () => this.#destroy(open))
    client.on('end', () => this.#destroy(open))
    this.#open = open
    try {
      await orAbort(client.connect(), late)
    } catch (error) {
      this.#destroy(open)
      throw error
    }
    return open
  }

  async #disconnect(): Promise<void> {
    clearTimeout(this.#idle)
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    if (!open.isUsable) return
    open.isUsable = false
    const timer = setTimeout(() => open.socket.destroy(), CLOSE_TIMEOUT_MS)
    await open.client.end()
    clearTimeout(timer)
  }

  #destroy(open: Open): void {
    open.isUsable = false
    open.socket.destroy()
    if (this.#open === open) this.#open = undefined
  }
}

/** The promise, or the reason of the signal. */
async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
    promise.catch(() => undefined)
    aborted.catch(() => undefined)
  }
}
