import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CheckpointId } from '../../../src/model/ids.js'
import {
  chooseForSize,
  fairShare,
  type Giver,
  type SizeModel,
} from '../../../src/model/retention/size-rules.js'

/** Each checkpoint leads to some contents, and a content takes as many bytes as its number. */
type Contents = ReadonlyMap<string, readonly number[]>

class Model implements SizeModel<CheckpointId> {
  readonly #gone = new Set<string>()
  readonly #contents: Contents

  constructor(contents: Contents) {
    this.#contents = contents
  }

  get left(): string[] {
    return [...this.#contents.keys()].filter((id) => !this.#gone.has(id))
  }

  total(): number {
    return this.#sumOf(() => true)
  }

  bytesOf({ candidates }: Giver<CheckpointId>): number {
    return this.#sumOf((id) => candidates.some((candidate) => candidate === id))
  }

  remove(id: CheckpointId): void {
    this.#gone.add(id)
  }

  restore(id: CheckpointId): void {
    this.#gone.delete(id)
  }

  #sumOf(isMeant: (id: string) => boolean): number {
    const live = this.left.filter(isMeant).flatMap((id) => this.#contents.get(id) ?? [])
    return [...new Set(live)].reduce((sum, bytes) => sum + bytes, 0)
  }
}

const limit = (capBytes: number, fairBytes = 0) => ({ capBytes, fairBytes })
const ids = (...names: readonly string[]) => names as readonly CheckpointId[]

test('the largest project gives first, and a small one keeps its history', () => {
  const contents = new Map([
    ['big-1', [500]],
    ['big-2', [400]],
    ['small-1', [3]],
    ['small-2', [2]],
  ])
  const givers = [{ candidates: ids('small-1', 'small-2') }, { candidates: ids('big-1', 'big-2') }]
  expect(chooseForSize(givers, new Model(contents), limit(450))).toEqual(['big-1'])
})

test('nothing is removed if all removable checkpoints together are not enough', () => {
  const contents = new Map([
    ['pinned', [507]],
    ['a', [3]],
    ['b', [2]],
  ])
  const model = new Model(contents)
  expect(chooseForSize([{ candidates: ids('a', 'b') }], model, limit(500))).toBeUndefined()
  expect(model.left).toEqual(['pinned', 'a', 'b'])
})

test('a checkpoint that frees nothing stays, even if it is older than one that does', () => {
  const contents = new Map([
    ['old', [100]],
    ['same', [100, 1]],
    ['large', [900]],
    ['newest', [100]],
  ])
  const givers = [{ candidates: ids('old', 'same', 'large') }]
  expect(chooseForSize(givers, new Model(contents), limit(200))).toEqual(['large'])
})

const stores = fc.array(
  fc.array(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 }), { maxLength: 6 }),
  { maxLength: 5 },
)

test('the store fits afterwards, and without any one of the chosen it would not', () => {
  fc.assert(
    fc.property(stores, fc.integer({ min: 0, max: 400 }), (shape, cap) => {
      const contents: Contents = new Map(
        shape.flatMap((rows, p) => rows.map((bytes, n) => [`${p}-${n}`, bytes] as const)),
      )
      const givers = shape.map((rows, p) => ({
        candidates: ids(...rows.map((_, n) => `${p}-${n}`)),
      }))
      const model = new Model(contents)
      const before = model.total()
      const chosen = chooseForSize(givers, model, limit(cap)) ?? []
      expect(model.total()).toBeLessThanOrEqual(cap)
      expect(chosen.length > 0).toBe(before > cap)
      for (const id of chosen) {
        model.restore(id)
        expect(model.total()).toBeGreaterThan(cap)
        model.remove(id)
      }
    }),
  )
})

test('a project within its fair share gives nothing, even if the store stays too large', () => {
  const contents = new Map([
    ['newest of the large one', [480]],
    ['small-1', [20]],
    ['small-2', [30]],
  ])
  const givers = [{ candidates: ids('small-1', 'small-2') }]
  const fair = fairShare([480, 50], 500)
  expect(fair).toBe(450)
  expect(chooseForSize(givers, new Model(contents), limit(500, fair))).toBeUndefined()
})

test('the fair share is what all can have together', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(sizes, fc.integer({ min: 0, max: 4000 }), (all, available) => {
      const share = fairShare(all, available)
      const sum = all.reduce((total, size) => total + Math.min(size, share), 0)
      const whole = all.reduce((total, size) => total + size, 0)
      const isEnough = whole <= available
      expect(share === Infinity).toBe(isEnough)
      expect(sum).toBeCloseTo(isEnough ? whole : available)
    }),
  )
})
