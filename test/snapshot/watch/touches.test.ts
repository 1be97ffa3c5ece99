import { expect, test } from 'vitest'
import { bytePath, ROOT } from '../../../src/model/index.js'
import { ContentNode } from '../../../src/snapshot/capture/stat-cache/node.js'
import { Touches } from '../../../src/snapshot/watch/touches.js'

const path = bytePath
const node = (name: string) => new ContentNode(path(name), { kind: 'file', viaIndex: false })

test('a touched name makes its ancestors dirty, and no other folder', () => {
  const touches = new Touches()
  touches.add(path('a/b'), 'c', { hasNewNames: false })
  expect(['', 'a', 'a/b', 'a/x', 'x'].map((each) => touches.isClean(path(each)))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ])
  expect([touches.has(path('a/b'), 'c'), touches.has(path('a'), 'b')]).toEqual([true, false])
})

test('an added or removed name touches its folder too', () => {
  const touches = new Touches()
  touches.add(path('a/b'), 'c', { hasNewNames: true })
  expect([touches.has(path('a/b'), 'c'), touches.has(path('a'), 'b')]).toEqual([true, true])
})

test('nothing in an invalidated folder is unchanged, everything in its siblings is', () => {
  const touches = new Touches()
  touches.invalidate(path('a/b'))
  expect(touches.unchangedIn(path('a/b/c'))(node('d'))).toBe(false)
  expect(touches.unchangedIn(path('a'))(node('b'))).toBe(false)
  expect(touches.unchangedIn(path('a'))(node('c'))).toBe(true)
  expect(touches.isClean(path('a/c'))).toBe(true)
})

test('a name touched repeatedly counts once; too many names invalidate everything', () => {
  const touches = new Touches()
  for (let i = 0; i < 300_000; i++) touches.add(ROOT, 'log', { hasNewNames: false })
  expect([touches.isClean(path('a')), touches.has(ROOT, 'other')]).toEqual([true, false])
  for (let i = 0; i < 100_001; i++) touches.add(path('a'), String(i), { hasNewNames: false })
  expect([touches.isClean(path('b')), touches.has(ROOT, 'other')]).toEqual([false, true])
})
