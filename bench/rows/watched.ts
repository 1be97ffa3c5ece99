/**
 * Saves of a watched project: their cost depends on the changes, not on the size of the folder. The peers have no such
 * feature; they save the same change in the same tree.
 */
import {
  type Arena,
  type Bench,
  OURS,
  saveInChild,
  shared,
  type TreeSource,
  warmPeers,
  withOurs,
} from '../bench.js'
import type { Child } from '../child-process.js'
import { median, quantile, runRounds, smallest } from '../measure.js'
import { atMost, type Measured, type Row } from '../row.js'
import { changeFile } from '../trees/tree.js'

const SMALL: TreeSource = { shape: '2k' }
const LARGE: TreeSource = { shape: '23k' }
const WARM_UPS = 20
const HUNDRED = 100

/** One changed file, many times, in either tree. */
const times = shared(async (bench) => ({
  small: await watchedTimes(bench, SMALL),
  large: await watchedTimes(bench, LARGE),
}))

export const watchedSave: Row = {
  name: 'watched-1-of-23k',
  async measure(bench) {
    const { large } = await times(bench)
    return atMost(8, inMs(median(large), 'p50; the limit is a time'))
  },
}

export const watchedSlow: Row = {
  name: 'watched-1-of-23k-p99',
  async measure(bench) {
    const { large } = await times(bench)
    return atMost(30, inMs(quantile(large, 0.99), 'p99; the limit is a time'))
  },
}

export const watchedOfGit: Row = {
  name: 'watched-1-of-23k-of-git',
  async measure(bench) {
    const { large } = await times(bench)
    const arena = await bench.arena(LARGE)
    bench.log('the peers save one changed file of 23k')
    const medians = await runRounds({
      contestants: warmPeers(arena).filter(({ name }) => name !== arena.hermes.name),
      count: bench.quick ? 3 : 7,
      warmUps: 1,
      before: () => void arena.tree.change(),
    })
    const { name, figure } = smallest(medians)
    return {
      ours: median(large),
      peer: figure,
      limit: 0.03,
      unit: 'ms',
      detail: `fastest peer ${name}`,
    }
  },
}

export const watchedTrees: Row = {
  name: 'watched-23k-of-2k',
  async measure(bench) {
    const { small, large } = await times(bench)
    const [a, b] = [median(small), median(large)]
    return {
      ours: Math.max(a, b),
      peer: Math.min(a, b),
      limit: 1.5,
      unit: 'ms',
      detail: `the slower of both trees against the other (2k ${a.toFixed(1)}, 23k ${b.toFixed(1)})`,
    }
  },
}

export const watchedNothing: Row = {
  name: 'watched-nothing-of-23k',
  async measure(bench) {
    const values = await underWatch(bench, LARGE, (_arena, child) =>
      repeated(bench, async () => {
        const { ms, created } = await child.ask({ kind: 'save', probed: false })
        if (created) throw new Error('Savestate made a checkpoint of an unchanged tree')
        return ms
      }),
    )
    return atMost(2, inMs(median(values), 'p50; the limit is a time'))
  },
}

export const watchedHundred: Row = {
  name: 'watched-100-of-23k',
  async measure(bench) {
    let round = 0
    const values = await underWatch(bench, LARGE, (arena, child) =>
      repeated(bench, async () => {
        round += 1
        for (const path of arena.tree.facts.changeable.slice(-HUNDRED)) changeFile(path, round)
        return saveInChild(child)
      }),
    )
    return atMost(60, inMs(median(values), 'p50; the limit is a time'))
  },
}

export const watchedRewind: Row = {
  name: 'watched-rewind-1-of-23k',
  async measure(bench) {
    const values = await underWatch(bench, LARGE, async (arena, child) => {
      const path = arena.tree.facts.changeable.at(-1)
      if (path === undefined) throw new Error('The tree has nothing to change')
      let round = 0
      changeFile(path, -1)
      const { id } = await child.ask({ kind: 'save', probed: false })
      return repeated(bench, async () => {
        changeFile(path, (round += 1))
        const { ms, applied } = await child.ask({ kind: 'rewind', to: id })
        if (!applied) throw new Error('Nothing was rewound')
        return ms
      })
    })
    return atMost(25, inMs(median(values), 'p50; the limit is a time'))
  },
}

function watchedTimes(bench: Bench, source: TreeSource): Promise<readonly number[]> {
  return underWatch(bench, source, (arena, child) =>
    repeated(bench, () => {
      arena.tree.change()
      return saveInChild(child)
    }),
  )
}

/** In a child that watches the tree; the save that starts the watch is not counted. */
async function underWatch<T>(
  bench: Bench,
  source: TreeSource,
  work: (arena: Arena, child: Child) => Promise<T>,
): Promise<T> {
  const arena = await bench.arena(source)
  bench.log(`${OURS} watches ${arena.tree.name}`)
  const begin = async (child: Child) => {
    await child.ask({ kind: 'save', probed: false })
    return work(arena, child)
  }
  return withOurs(arena, begin, { watch: true })
}

async function repeated({ quick }: Bench, once: () => Promise<number>): Promise<readonly number[]> {
  const values: number[] = []
  for (let round = 0; round < WARM_UPS + (quick ? 60 : 200); round += 1) {
    const ms = await once()
    if (round >= WARM_UPS) values.push(ms)
  }
  return values
}

function inMs(ours: number, detail: string): Pick<Measured, 'ours' | 'unit' | 'detail'> {
  return { ours, unit: 'ms', detail }
}
