// What changes between the look at a path and its reading, at the worst moment, is saved by the next save at the latest.
import fs, { chmodSync, renameSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch, sdk } from './scratch.js'
import { settle } from './capture-helpers.js'

/** Does something right after the first call of a function of node:fs for a path. */
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
  const put = (value: unknown) => {
    Object.assign(fs, { [name]: value })
    syncBuiltinESMExports()
  }
  put(watched)
  return { [Symbol.dispose]: () => put(original) }
}

async function treeIn(s: Scratch, home: string): Promise<string | null> {
  const store = await sdk.openStore({ home: join(s.folder, home), mayBlock: true })
  const project = await store.project(s.project)
  const { tree } = await project.show((await project.save()).id)
  await store.close()
  return tree
}

test('a mode changed after the look and before the reading', async () => {
  await using s = await scratch({ files: { 'a/run': '1', 'a/other': '2' } })
  const store = await s.open({ mayBlock: true })
  const project = await store.project(s.project)
  await project.save()
  const file = join(s.project, 'a/run')
  s.write({ 'a/run': 'another' })
  {
    using _ = afterFirst('lstatSync', file, () => {
      chmodSync(file, 0o755)
      // So long ago when it is read that its stamp is trusted.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    })
    await project.save()
  }
  const { tree } = await project.show((await project.save()).id)
  expect(tree).toBe(await treeIn(s, 'fresh'))
})

test('a link read while its folder was another one for a moment', async () => {
  await using s = await scratch({ files: { 'a/link': { link: 'first' } } })
  s.write({ 'a/link': { link: 'of another folder' } }, s.folder)
  await settle()
  const store = await s.open({ mayBlock: true })
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
