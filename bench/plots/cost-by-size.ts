/**
 * The cost of saving one changed file in trees of different sizes: ours with and without a watch, and the fastest
 * git peers. The result is a picture for docs/internals/performance.md.
 */
import { type Arena, type Bench, OURS, saveInChild, warmPeers, withOurs } from '../bench.js'
import type { Child } from '../child-process.js'
import { type Contestant, median, type Medians, runRounds } from '../measure.js'
import { SHAPES, type ShapeName } from '../trees/tree.js'

export interface Series {
  readonly name: string
  /** Milliseconds by number of files, or of steps. */
  readonly points: readonly (readonly [count: number, ms: number])[]
}

const SIZES: readonly ShapeName[] = ['1k', '5k', '23k', '100k', '200k']
const WATCHED = `${OURS}, watched`

export async function costBySize(bench: Bench): Promise<readonly Series[]> {
  const points = new Map<string, (readonly [number, number])[]>()
  for (const shape of SIZES) {
    const arena = await bench.arena({ shape })
    const medians = await saveOnce(bench, arena)
    for (const [name, ms] of medians) {
      const series = points.get(name) ?? []
      series.push([SHAPES[shape].files, ms])
      points.set(name, series)
    }
  }
  return [...points].map(([name, all]) => ({ name, points: all }))
}

async function saveOnce(bench: Bench, arena: Arena): Promise<Medians> {
  bench.log(`one changed file of ${arena.tree.name}`)
  const count = bench.quick ? 3 : 7
  const plain = await withOurs(arena, (child) => {
    const ours = { name: OURS, time: () => saveInChild(child) }
    const peers = warmPeers(arena).filter(({ name }) => name !== arena.hermes.name)
    return rounds(arena, { contestants: [ours, ...peers], count })
  })
  const underWatch = async (child: Child) => {
    await child.ask({ kind: 'save', probed: false })
    const values: number[] = []
    for (let round = 0; round < 10 + count * 5; round += 1) {
      arena.tree.change()
      const ms = await saveInChild(child)
      if (round >= 10) values.push(ms)
    }
    return median(values)
  }
  const watched = await withOurs(arena, underWatch, { watch: true })
  return new Map([[WATCHED, watched], ...plain])
}

function rounds(
  { tree }: Arena,
  { contestants, count }: { readonly contestants: readonly Contestant[]; readonly count: number },
): Promise<Medians> {
  return runRounds({ contestants, count, warmUps: 1, before: () => void tree.change() })
}
