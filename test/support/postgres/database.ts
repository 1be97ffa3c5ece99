// A database of its own for one test file, on the server of the run or on another one.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { expect } from 'vitest'
import { sharedServerUrl } from './shared-server.js'

export type TestDatabase = {
  /** The superuser's. */
  readonly url: string
  readonly name: string
  /** The URL of another user, server or port. */
  urlWith(parts: {
    readonly user?: string
    readonly password?: string
    readonly port?: number
    readonly parameters?: Readonly<Record<string, string>>
  }): string
  /** Runs SQL as the superuser, and returns the rows. */
  sql(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Until exactly so many connections of Savestate wait for a lock. */
  waitForLocks(count: number): Promise<void>
  /** A role that may log in, removed with the database. */
  createRole(password: string): Promise<string>
  dispose(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export async function createDatabase(serverUrl?: string): Promise<TestDatabase> {
  const server = serverUrl ?? (await sharedServerUrl())
  const name = `test_${randomBytes(6).toString('hex')}`
  await runOn(server, `CREATE DATABASE ${name}`)
  const roles: string[] = []
  const url = new URL(server)
  url.pathname = `/${name}`
  const database: TestDatabase = {
    url: url.href,
    name,
    urlWith({ user, password, port, parameters = {} }) {
      const other = new URL(url)
      if (user !== undefined) other.username = user
      if (password !== undefined) other.password = encodeURIComponent(password)
      if (port !== undefined) other.port = String(port)
      for (const [key, value] of Object.entries(parameters)) other.searchParams.set(key, value)
      return other.href
    },
    sql: (text, values) => runOn(url.href, text, values),
    async waitForLocks(count) {
      await expect
        .poll(async () => {
          const [row] = await runOn(
            server,
            `SELECT count(*)::int AS count FROM pg_stat_activity
              WHERE datname = $1 AND application_name = 'savestate' AND wait_event_type = 'Lock'`,
            [name],
          )
          return row?.['count']
        })
        .toBe(count)
    },
    async createRole(password) {
      const role = `role_${randomBytes(6).toString('hex')}`
      await runOn(server, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
      roles.push(role)
      return role
    },
    async dispose() {
      await runOn(server, `DROP DATABASE ${name} WITH (FORCE)`)
      for (const role of roles) await runOn(server, `DROP ROLE ${role}`)
    },
    [Symbol.asyncDispose]: () => database.dispose(),
  }
  return database
}

async function runOn(
  connectionString: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, [...values])
    return rows
  } finally {
    await client.end()
  }
}
