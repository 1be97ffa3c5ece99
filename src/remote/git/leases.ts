// Leases, and the deletion of a log. A lease does not expire: it is given up, or taken by a caller that knows its fence.
import type { LogName } from '../../model/index.js'
import type { DriverTake, DriverTaken } from '../driver.js'
import type { RemoteLease } from '../remote.js'
import { emptyManifest, headOf, type LogManifest } from './log-manifest.js'
import type { LogStore } from './log-store.js'

export function takeLease(store: LogStore, request: DriverTake): Promise<DriverTaken> {
  const { log, holder, create, ifFence } = request
  return store.update<DriverTaken>(log, ({ manifest }) => {
    const isMissing = manifest === undefined || manifest.isDeleted
    const before = isMissing ? created(log, { manifest, create, nowMs: store.nowMs() }) : manifest
    const isFree = before?.holder === null || before?.fence === ifFence
    if (before === undefined || !isFree) {
      const head = manifest === undefined ? undefined : headOf(manifest)
      return { result: { taken: false, head } }
    }
    // As in PostgreSQL: unique even if a server that was restored from a copy has lost takes.
    const fence = Math.max(before.fence + 1, store.nowMs())
    const taken = { ...before, fence, holder }
    return {
      result: { taken: true, lease: { log, fence }, head: headOf(taken) },
      write: { manifest: taken },
    }
  })
}

/** A log that is created again continues its numbers. */
function created(
  log: LogName,
  {
    manifest,
    create,
    nowMs,
  }: {
    readonly manifest: LogManifest | undefined
    readonly create: DriverTake['create']
    readonly nowMs: number
  },
): LogManifest | undefined {
  if (create === undefined) return undefined
  const empty = emptyManifest(log, create)
  if (manifest === undefined) return { ...empty, updatedAtMs: nowMs }
  const { nextN, epoch, fence, packs } = manifest
  return { ...empty, nextN, epoch, fence, packs, updatedAtMs: nowMs }
}

/** Nothing is prolonged; returns the leases that are lost. */
export async function renewLeases(
  store: LogStore,
  leases: readonly RemoteLease[],
): Promise<readonly RemoteLease[]> {
  return store.repository.withLock(async () => {
    await store.fetch(leases.map(({ log }) => log))
    const lost: RemoteLease[] = []
    for (const lease of leases) {
      const { manifest } = await store.read(lease.log)
      if (manifest === undefined || !holds(manifest, lease.fence)) lost.push(lease)
    }
    return lost
  })
}

export async function releaseLease(store: LogStore, { log, fence }: RemoteLease): Promise<void> {
  await store.update(log, ({ manifest }) => {
    if (manifest === undefined || !holds(manifest, fence)) return { result: undefined }
    return { result: undefined, write: { manifest: { ...manifest, holder: null } } }
  })
}

export function holds({ fence, holder }: LogManifest, of: number): boolean {
  return fence === of && holder !== null
}

/** Leaves a tombstone. Its packs go with the next collection. */
export function deleteLog(store: LogStore, log: LogName, fence: number | null): Promise<boolean> {
  return store.update(log, ({ manifest }) => {
    if (manifest === undefined || manifest.isDeleted) return { result: false }
    const mayDelete = fence === null ? manifest.holder === null : manifest.fence === fence
    if (!mayDelete) return { result: false }
    const tombstone: LogManifest = {
      ...manifest,
      epoch: manifest.epoch + 1,
      fence: manifest.fence + 1,
      hash: null,
      card: null,
      status: 'completed',
      holder: null,
      isDeleted: true,
      updatedAtMs: store.nowMs(),
      segments: [],
      checkpoints: [],
    }
    return {
      result: true,
      write: { manifest: tombstone, segments: [{ path: 'segments', isRemoved: true }] },
    }
  })
}
