// A change between the stat and the read of a path is saved by the next save at the latest.
import fs, { type BigIntStats, chmodSync, renameSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch, sdk } from '../../support/scratch.js'
import { openProject, saved, waitForStableStamps, storedBytes } from './capture-helpers.js'

/** Calls `act` right after the first call of a node:fs function for a path. */
function afterFirst(name: 'lstatSync' | 'readlinkSync', path: string, act: () => void): Disposable {
  const original = fs[name]
  let isDone = false
  const watched = (...args: unknown[]): unknown => {
    const result: unknown = Reflect.apply(original, fs, args)
    if (!isDone && String(args[0]) === path) {
      isDone = true
      act()
    }
    return result
  }
  return replaced(name, watched)
}

function replaced(
  name: 'lstatSync' | 'readlinkSync' | 'fstatSync' | 'read',
  by: unknown,
): Disposable {
  const original = fs[name]
  const put = (value: unknown) => {
    Object.assign(fs, { [name]: value })
    syncBuiltinESMExports()
  }
  put(by)
  return { [Symbol.dispose]: () => put(original) }
}

async function treeIn(s: Scratch, home: string): Promise<string | null> {
  const store = await sdk.openStore({ home: join(s.folder, home), inProcess: true })
  const project = await store.project(s.project)
  const { tree } = await project.show((await project.save()).id)
  await store.close()
  return tree
}

test('a mode that changes between the stat and the read is saved', async () => {
  await using s = await scratch({ files: { 'a/run': '1', 'a/other': '2' } })
  const store = await s.open({ inProcess: true })
  const project = await store.project(s.project)
  await project.save()
  const file = join(s.project, 'a/run')
  s.write({ 'a/run': 'another' })
  {
    using _ = afterFirst('lstatSync', file, () => {
      chmodSync(file, 0o755)
      // Long enough before the read that the stamp is stable.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    })
    await project.save()
  }
  const { tree } = await project.show((await project.save()).id)
  expect(tree).toBe(await treeIn(s, 'fresh'))
})

test('a link read while its folder was briefly swapped is saved correctly', async () => {
  await using s = await scratch({ files: { 'a/link': { link: 'first' } } })
  s.write({ 'a/link': { link: 'of another folder' } }, s.folder)
  await waitForStableStamps()
  const store = await s.open({ inProcess: true })
  const project = await store.project(s.project)
  const [mine, other] = [join(s.project, 'a'), join(s.folder, 'a')]
  const swap = () => {
    renameSync(mine, `${mine}-away`)
    renameSync(other, mine)
    renameSync(`${mine}-away`, other)
  }
  {
    using _ = afterFirst('lstatSync', join(mine, 'link'), swap)
    using __ = afterFirst('readlinkSync', join(mine, 'link'), swap)
    await project.save()
  }
  const { tree } = await project.show((await project.save()).id)
  expect(tree).toBe(await treeIn(s, 'fresh'))
})

test('a large file written twice within one clock tick, during the read, is not saved torn', async () => {
  const [first, second] = [Buffer.alloc(6 << 20, 'a'), Buffer.alloc(6 << 20, 'b')]
  await using s = await scratch({ files: { large: first } })
  const { project } = await openProject(s, { inProcess: true })
  const { fstatSync, read } = fs
  const isLarge = (stats: BigIntStats | fs.Stats) => Number(stats.size) === first.length
  let reads = 0
  // The file clock ticks so slowly that both writes leave the same stamp.
  const now = BigInt(Date.now() + 3_600_000) * 1_000_000n
  using _ = replaced('fstatSync', (fd: number, options: { readonly bigint: true }) => {
    const stats = fstatSync(fd, options)
    return isLarge(stats) ? Object.assign(stats, { mtimeNs: now, ctimeNs: now }) : stats
  })
  using __ = replaced('read', (fd: number, ...rest: unknown[]) => {
    if (isLarge(fstatSync(fd)) && ++reads === 3) writeFileSync(join(s.project, 'large'), second)
    return Reflect.apply(read, fs, [fd, ...rest])
  })
  const { ref } = await saved(project)
  expect(reads).toBeGreaterThan(3)
  expect(storedBytes(s, ref, 'large').equals(second)).toBe(true)
})
