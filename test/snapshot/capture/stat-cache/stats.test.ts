import { lstatSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scratchFolders } from '../../../support/scratch-git.js'
import {
  isSameStamp,
  isStampStable,
  setStamp,
  stampText,
} from '../../../../src/snapshot/capture/stat-cache/stats.js'

const NS_PER_MS = 1_000_000n
const folder = scratchFolders()

test('a file read in the clock tick of its last change is never stable', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 60n }), fc.nat(10_000), (ctimeNs, laterUs) => {
      const readAtMs = Number((ctimeNs + BigInt(laterUs) * 1000n) / NS_PER_MS)
      expect(isStampStable({ ctimeNs }, readAtMs)).toBe(false)
    }),
    { seed: 9, numRuns: 1000 },
  )
})

test('with a fine clock, a file read a second after its last change is stable', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 60n }), (ctimeNs) => {
      fc.pre(ctimeNs % 1_000_000_000n !== 0n)
      expect(isStampStable({ ctimeNs }, Number(ctimeNs / NS_PER_MS) + 1000)).toBe(true)
    }),
    { seed: 10, numRuns: 1000 },
  )
})

test('a stamp without fractions of a second needs more than two seconds', () => {
  const ctimeNs = 1_700_000_000n * 1_000_000_000n
  const afterMs = (ms: number) => isStampStable({ ctimeNs }, 1_700_000_000_000 + ms)
  expect([afterMs(0), afterMs(1000), afterMs(2000), afterMs(3000)]).toEqual([
    false,
    false,
    false,
    true,
  ])
})

test('nothing is stable after the clock was set back', () => {
  expect(isStampStable({ ctimeNs: 5_000_000_001n }, 1000)).toBe(false)
})

test('a file written now becomes stable soon', async () => {
  const path = join(folder(), 'file')
  writeFileSync(path, 'content')
  const stats = lstatSync(path, { bigint: true })
  expect(isStampStable(stats, Date.now())).toBe(false)
  await sleep(stats.ctimeNs % 1_000_000_000n === 0n ? 3000 : 200)
  expect(isStampStable(stats, Date.now())).toBe(true)
})

test('a stamp is the same until size, mtime, ctime or inode changes', async () => {
  const path = join(folder(), 'file')
  writeFileSync(path, 'content')
  const look = () => lstatSync(path, { bigint: true })
  const first = look()
  const stamp = { size: 0, mtimeNs: 0n, ctimeNs: 0n, ino: 0n, owner: 0 }
  setStamp(stamp, first)
  expect(isSameStamp(stamp, look())).toBe(true)
  expect(stampText(look())).toBe(stampText(first))

  await sleep(25)
  utimesSync(path, Number(first.atimeNs) / 1e9, Number(first.mtimeNs) / 1e9)
  expect(isSameStamp(stamp, look())).toBe(false)

  setStamp(stamp, look())
  writeFileSync(`${path}.new`, 'content')
  renameSync(`${path}.new`, path)
  expect(isSameStamp(stamp, look())).toBe(false)
})

test('times after 2262 and 64-bit inodes compare equal in every representation', () => {
  const path = join(folder(), 'far')
  writeFileSync(path, 'content')
  const seen = lstatSync(path, { bigint: true })
  // From Node, and truncated to 64 bits.
  const [mtimeNs, ino] = [10_413_792_000_000_000_000n, 2n ** 63n + 5n]
  const far = Object.assign(Object.create(Object.getPrototypeOf(seen)), seen, { mtimeNs, ino })
  const kept = new BigInt64Array([mtimeNs, ino])
  const stamp = { size: 7, mtimeNs: kept[0] ?? 0n, ctimeNs: seen.ctimeNs, ino: kept[1] ?? 0n }
  const set = { size: 0, mtimeNs: 0n, ctimeNs: 0n, ino: 0n, owner: 0 }
  setStamp(set, far)
  expect(set).toEqual({ ...stamp, owner: set.owner })
  expect([isSameStamp(stamp, far), stampText(stamp)]).toEqual([true, stampText(far)])
  expect(isSameStamp({ ...stamp, mtimeNs: stamp.mtimeNs + 1n }, far)).toBe(false)
  // The original value of a wrapped ctime is unknown, so it is not stable.
  expect(isStampStable({ ctimeNs: stamp.mtimeNs }, Date.now())).toBe(false)
})
