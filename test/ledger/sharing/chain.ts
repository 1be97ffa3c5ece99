// A chain of segments in memory, as a remote would keep it, and ledgers that ship to it and take over from it.
import { hash } from 'node:crypto'
import { expect } from 'vitest'
import type { Ledger, SegmentToApply } from '../../../src/ledger/index.js'
import type { LogName, LogPosition, ProjectId, SegmentContent } from '../../../src/model/index.js'

export const REMOTE = 'remote-1'

export type Chain = {
  readonly log: LogName
  segments: SegmentToApply[]
  position: LogPosition
  /** The length of each segment as JSON. */
  readonly sizes: number[]
}

export function newChain(log: LogName): Chain {
  return { log, segments: [], position: { nextN: 1, epoch: 0, hash: null }, sizes: [] }
}

export function sessionLog(id: string): LogName {
  return { kind: 'session', id }
}

/** Through JSON, as the bytes of a segment would. */
export function encode(content: SegmentContent, { n, prev }: { n: number; prev: string | null }) {
  const json = JSON.stringify(content)
  const body = Buffer.from(json)
  return { n, prev, hash: hash('sha256', `${prev ?? ''}${json}`, 'hex'), body }
}

/** Ships what has changed. Returns whether there was anything. */
export function ship(ledger: Ledger, chain: Chain): boolean {
  const prepared = ledger.sharing.prepare(chain.log, encode)
  if (prepared === undefined) return false
  receive(chain, prepared)
  ledger.sharing.acknowledge(chain.log, chain.position)
  return true
}

type Prepared = NonNullable<ReturnType<Ledger['sharing']['prepare']>>

/** The remote commits a segment. */
export function receive(chain: Chain, { before, segment, isBase }: Prepared): void {
  expect(before).toEqual(chain.position)
  const { n, prev, hash: ownHash, body } = segment
  const content = JSON.parse(Buffer.from(body).toString()) as SegmentContent
  expect(content.isBase).toBe(isBase)
  if (isBase) chain.segments = []
  chain.segments.push({ n, prev, hash: ownHash, content })
  chain.sizes.push(body.length)
  const epoch = chain.position.epoch + (isBase && n > 1 ? 1 : 0)
  chain.position = { nextN: n + 1, epoch, hash: ownHash }
}

export function pull(ledger: Ledger, chain: Chain, project: ProjectId | null = null) {
  const known = ledger.sharing.get(chain.log)?.position.nextN ?? 1
  const hasBase = chain.segments[0] !== undefined && chain.segments[0].n > known
  const segments = hasBase ? chain.segments : chain.segments.filter(({ n }) => n >= known)
  return pullAll(ledger, { ...chain, segments }, project)
}

/** From the first segment on. */
export function pullAll(
  ledger: Ledger,
  { log, segments, position }: Chain,
  project: ProjectId | null = null,
) {
  const { epoch } = position
  return ledger.sharing.apply(log, { segments, remote: REMOTE, epoch, project })
}
