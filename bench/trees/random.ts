/**
 * A seeded stream of random numbers (sfc32), so that every run of the benchmark makes the same trees.
 * It uses 32-bit integers only, so nothing overflows a double.
 */

export interface Random {
  /** From 0 (included) to 1 (excluded). */
  fraction(): number
  /** A whole number from 0 to `bound - 1`. */
  below(bound: number): number
  /** One of the items, with equal probability. */
  pick<T>(items: readonly T[]): T
  /** From the normal distribution with mean 0 and deviation 1. */
  bell(): number
}

export function seededRandom(seed: number): Random {
  let a = 0x9e3779b9 ^ seed
  let b = 0x243f6a88
  let c = 0xb7e15162
  let counter = 1

  function next(): number {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  // The first outputs still depend on the seed too much.
  for (let warmUp = 0; warmUp < 16; warmUp += 1) next()

  const fraction = (): number => next() / 0x1_0000_0000
  const below = (bound: number): number => Math.floor(fraction() * bound)

  return {
    fraction,
    below,
    pick<T>(items: readonly T[]): T {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('Nothing to pick from')
      return item
    },
    bell() {
      const radius = Math.sqrt(-2 * Math.log(1 - fraction()))
      return radius * Math.cos(2 * Math.PI * fraction())
    },
  }
}
