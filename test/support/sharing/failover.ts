// A server that loses confirmed commits, as after a failover to a standby that was behind, and two hosts: the first behind a proxy.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Store } from '../../../src/index.js'
import { openRemote, type Remote } from '../../../src/remote/index.js'
import {
  createDatabase,
  type PostgresServer,
  startServer,
  type TestDatabase,
} from '../postgres/index.js'
import { startProxy, type TcpProxy } from '../remote/tcp-proxy.js'
import { type Scratch, scratch } from '../scratch.js'

export type FailoverPlace = {
  /** Between the first host and the server. */
  readonly proxy: TcpProxy
  /** A client beside the hosts. */
  readonly remote: Remote
  /** The first host, and the other one. */
  readonly store: Store
  readonly other: Store
  /** The server loses all commits of `work`. No connection of the first host gets through until `proxy.resume()`. */
  readonly loseCommitsOf: (work: () => Promise<unknown>) => Promise<void>
  /** As if every holder had been silent for a minute. */
  readonly expireLeases: () => Promise<void>
}

/** A server for the tests of one file, with a database and two hosts for each test. */
export function failoverPlace(): () => FailoverPlace {
  let server: PostgresServer
  let database: TestDatabase
  let hosts: readonly Scratch[]
  let place: FailoverPlace

  const loseCommitsOf: FailoverPlace['loseCommitsOf'] = async (work) => {
    await server.stop()
    const goBack = server.keepCopy()
    await server.start()
    await work()
    place.proxy.cut()
    await server.stop('immediate')
    goBack()
    await server.start()
  }
  const expireLeases = async () => {
    const minute = `clock_timestamp() - interval '1 minute'`
    await database.sql(`UPDATE savestate.live SET expires_at = ${minute} WHERE holder IS NOT NULL`)
  }

  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.dispose())
  beforeEach(async () => {
    database = await createDatabase(server.url)
    const remote = await openRemote({ url: database.url })
    await remote.init()
    const proxy = await startProxy(server)
    const [a, b] = [await scratch(), await scratch()]
    hosts = [a, b]
    const store = await a.open({ remote: { url: database.urlWith({ port: proxy.port }) } })
    const other = await b.open({ remote: database.url })
    place = { proxy, remote, store, other, loseCommitsOf, expireLeases }
  })
  afterEach(async () => {
    place.proxy.resume()
    for (const host of hosts) await host.dispose()
    await place.remote.close()
    await place.proxy.dispose()
    await database.dispose()
  })
  return () => place
}
