import { expect, test } from 'vitest'
import { type BytePath, bytePath } from '../../../../src/model/index.js'
import {
  byTreeOrder,
  findNode,
  ContentNode,
  FolderNode,
  SkippedNode,
  type Node,
} from '../../../../src/snapshot/capture/stat-cache/node.js'

const file = (name: string) => new ContentNode(bytePath(name), { kind: 'file', viaIndex: false })
const folder = (name: string) => new FolderNode(bytePath(name), { viaIndex: false })
const skipped = (name: string) =>
  new SkippedNode(bytePath(name), { reason: 'ignored', isFolder: true })

function rootOf(children: readonly Node[]) {
  const root = folder('')
  root.children = children.toSorted(byTreeOrder)
  return root
}

test('every name is found in the git tree order', () => {
  const inner = folder('a')
  inner.children = [file('x')]
  const nodes = [
    inner,
    file('a-b'),
    file('a.b'),
    file('a0'),
    file('b'),
    skipped('b.c'),
    folder('b-'),
  ]
  const root = rootOf(nodes)
  for (const node of nodes) expect(findNode(root, node.name)).toBe(node)
  expect(findNode(root, bytePath('a/x'))).toBe(inner.children[0])
  for (const path of ['', 'A', 'a/', 'a/y', 'a-', 'a-b/x', 'b.c/x', 'c', '\u00ff'])
    expect(findNode(root, path as BytePath)).toBeUndefined()
})

test('finding a name in a huge folder checks few names', () => {
  const root = rootOf(Array.from({ length: 10_000 }, (_, number) => file(`f${number}`)))
  let looks = 0
  root.children = new Proxy(root.children, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks++
      return Reflect.get(target, key, receiver)
    },
  })
  expect(findNode(root, bytePath('f5000'))?.name).toBe('f5000')
  expect(looks).toBeLessThan(40)
})
