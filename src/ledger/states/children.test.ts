import { expect, test } from 'vitest'
import { objectsHeldBy } from './children.js'

test('what an array holds is found, before and after its holes', () => {
  const [one, two, three] = [{}, [], new Date(0)]
  const list: unknown[] = [one, undefined, two, 'text']
  list[7] = three
  list[4_294_967_294] = one
  const held = objectsHeldBy(list, undefined)
  expect(held.map(({ steps }) => steps)).toEqual([[0], [2], [7], [4_294_967_294]])
  expect(held.map(({ object }) => object)).toEqual([one, two, three, one])
})

test('holes are not looked at one by one', () => {
  let looks = 0
  const count = () => {
    looks += 1
    return undefined
  }
  const sparse: unknown[] = []
  sparse.length = 100_000
  sparse[99_999] = {}
  const list = new Proxy(sparse, {
    get: (target, key) => count() ?? Reflect.get(target, key),
    has: (target, key) => count() ?? Reflect.has(target, key),
    getOwnPropertyDescriptor: (target, key) =>
      count() ?? Reflect.getOwnPropertyDescriptor(target, key),
  })
  expect(objectsHeldBy(list, undefined).map(({ steps }) => steps)).toEqual([[99_999]])
  expect(looks).toBeLessThan(100)
})
