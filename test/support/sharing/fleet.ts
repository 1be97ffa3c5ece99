// Hosts that share one PostgreSQL: each has a home and a project of its own.
import { afterAll, beforeAll } from 'vitest'
import { openRemote, type Remote, type RemoteOptions } from '../../../src/remote/index.js'
import type { Store, StoreOptions } from '../../../src/index.js'
import { createDatabase, type TestDatabase } from '../postgres/index.js'
import { type Scratch, scratch, type ScratchOptions } from '../scratch.js'

export type Host = Scratch & {
  /** Opens the store with the remote. */
  openShared(options?: StoreOptions): Promise<Store>
}

export type SharedPlace = {
  readonly url: string
  readonly database: TestDatabase
  /** A client of the remote beside the stores. */
  remote(options?: Partial<RemoteOptions>): Promise<Remote>
  host(options?: ScratchOptions): Promise<Host>
  /** As if every holder had been silent for a minute. */
  expireLeases(): Promise<void>
}

/** A database with the tables of a remote, for the tests of one file. */
export function sharedPlace(key?: Uint8Array): () => SharedPlace {
  let database: TestDatabase
  const remotes: Remote[] = []
  const open = async (options: Partial<RemoteOptions> = {}) => {
    const remote = await openRemote({ url: database.url, ...(key && { key }), ...options })
    remotes.push(remote)
    return remote
  }
  beforeAll(async () => {
    database = await createDatabase()
    await (await open()).init()
  })
  afterAll(async () => {
    for (const remote of remotes) await remote.close()
    await database.dispose()
  })
  return () => ({
    url: database.url,
    database,
    remote: open,
    async host(options) {
      const folder = await scratch(options)
      const openShared = (given: StoreOptions = {}) =>
        folder.open({ remote: { url: database.url, ...(key && { key }) }, ...given })
      return { ...folder, openShared, [Symbol.asyncDispose]: () => folder.dispose() }
    },
    async expireLeases() {
      const minute = `clock_timestamp() - interval '1 minute'`
      await database.sql(
        `UPDATE savestate.live SET expires_at = ${minute} WHERE holder IS NOT NULL`,
      )
    },
  })
}
