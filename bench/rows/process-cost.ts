/**
 * The cost of a save for its process: how long it blocks the event loop, and its memory.
 * Each in a child that does nothing else: a first save, then one of a single changed file. The figure
 * beside ours is the limit.
 */
import { type Bench, type Tree, type TreeSource, treeName, withOurs } from '../bench.js'
import type { Child } from '../child-process.js'
import { flushDisk } from '../measure.js'
import { MEGABYTE, type Row } from '../row.js'

const MAX_GAP_MS = 15

export function eventLoop(source: TreeSource): Row {
  return {
    name: `event-loop-${treeName(source)}`,
    async measure(bench) {
      const tree = await bench.tree(source)
      const gaps: { first: number; warm: number }[] = []
      for (let round = 0; round < (bench.quick ? 1 : 3); round += 1) {
        bench.log(`event loop during saves of ${tree.name}`)
        gaps.push(await inFreshStore(bench, { tree, work: (child) => worstGaps(child, tree) }))
      }
      const first = Math.max(...gaps.map((gap) => gap.first))
      const warm = Math.max(...gaps.map((gap) => gap.warm))
      return {
        ours: Math.max(first, warm),
        peer: MAX_GAP_MS,
        limit: 1,
        unit: 'ms',
        detail: `longest gap; first save ${first.toFixed(1)}, warm ${warm.toFixed(1)}`,
      }
    },
  }
}

async function worstGaps(child: Child, tree: Tree): Promise<{ first: number; warm: number }> {
  const first = await child.ask({ kind: 'save', probed: true })
  tree.change()
  const warm = await child.ask({ kind: 'save', probed: true })
  return { first: first.worstGapMs, warm: warm.worstGapMs }
}

export function memory(
  source: TreeSource,
  { maxMegabytes, slow }: { maxMegabytes: number; slow: boolean },
): Row {
  return {
    name: `memory-${treeName(source)}`,
    slow,
    async measure(bench) {
      const tree = await bench.tree(source)
      bench.log(`memory during saves of ${tree.name}`)
      const peaks = await inFreshStore(bench, { tree, work: (child) => peakMemory(child, tree) })
      return {
        ours: peaks.warm / MEGABYTE,
        peer: maxMegabytes,
        limit: 1,
        unit: 'MB',
        detail: `peak resident; after the first save ${Math.round(peaks.first / MEGABYTE)}`,
      }
    },
  }
}

async function peakMemory(child: Child, tree: Tree): Promise<{ first: number; warm: number }> {
  await child.ask({ kind: 'save', probed: false })
  const first = await child.ask({ kind: 'memory' })
  tree.change()
  await child.ask({ kind: 'save', probed: false })
  const warm = await child.ask({ kind: 'memory' })
  return { first: first.peakBytes, warm: warm.peakBytes }
}

async function inFreshStore<T>(
  { scratch }: Bench,
  { tree, work }: { tree: Tree; work: (child: Child) => Promise<T> },
): Promise<T> {
  await flushDisk()
  return withOurs({ home: scratch.path('home'), tree }, work)
}
