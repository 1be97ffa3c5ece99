// The contract of `Remote`, for every driver: plain and sealed.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Remote } from '../../../src/remote/index.js'
import { describeClaims } from './claims.js'
import { describeCommits } from './commits.js'
import { describeLeases } from './leases.js'
import { describeLogs } from './logs.js'
import { describePacks } from './packs.js'
import { describeSetup } from './setup.js'

/** An empty place for a remote: a database, or a bare repository. */
export type RemotePlace = {
  /** A client of its own. Closed by the suite. */
  open(key?: Uint8Array): Promise<Remote>
  dispose(): Promise<void>
}

export type RemoteKindUnderTest = {
  readonly name: string
  /** Whether leases expire and `claim` works. */
  readonly isFleet: boolean
  /** Default: both. One for a further way to reach a driver: sealing happens above it, so the other variant is tested elsewhere. */
  readonly variants?: readonly ('plain' | 'sealed')[]
  createPlace(): Promise<RemotePlace>
}

/** One variant: a remote that was created, and further clients of it. */
export type RemoteClients = {
  readonly isFleet: boolean
  readonly remote: () => Remote
  /** Another process, with the same key. */
  readonly openOther: () => Promise<Remote>
}

export function describeRemote(kind: RemoteKindUnderTest): void {
  describe(`${kind.name}: setup`, () => {
    describeSetup(kind)
  })
  for (const variant of kind.variants ?? (['plain', 'sealed'] as const)) {
    const key = variant === 'plain' ? undefined : randomBytes(32)
    describe(`${kind.name}, ${variant}`, () => {
      let place: RemotePlace
      let first: Remote
      const opened: Remote[] = []
      const openOther = async () => {
        const remote = await place.open(key)
        opened.push(remote)
        await remote.id()
        return remote
      }
      beforeAll(async () => {
        place = await kind.createPlace()
        const remote = await place.open(key)
        await remote.init()
        await remote.close()
        first = await openOther()
      })
      afterAll(async () => {
        for (const remote of opened) await remote.close()
        await place.dispose()
      })
      const clients: RemoteClients = { isFleet: kind.isFleet, remote: () => first, openOther }
      describeLeases(clients)
      describeCommits(clients)
      describeLogs(clients)
      describePacks(clients)
      if (kind.isFleet) describeClaims(clients)
    })
  }
}
