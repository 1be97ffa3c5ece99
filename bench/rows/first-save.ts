/**
 * The first save of a tree: new stores for all contestants in every repetition, and a new process for us, as
 * in practice. Opening the store and `git init` are not counted.
 */
import { join } from 'node:path'
import {
  type Arena,
  asContestant,
  type Bench,
  newArena,
  OURS,
  saveInChild,
  type TreeSource,
  treeName,
  withOurs,
} from '../bench.js'
import { git } from '../peers/git.js'
import { type Contestant, runRounds, flushDisk } from '../measure.js'
import { against, type Row } from '../row.js'

/** For a small tree, running code for the first time dominates (docs/internals/performance.md). */
const LIMIT = 0.8
const LARGE_LIMIT = 0.4

export function firstSave(source: TreeSource): Row {
  const limit = 'shape' in source && source.shape === '23k' ? LARGE_LIMIT : LIMIT
  return {
    name: `first-save-${treeName(source)}`,
    async measure(bench) {
      const count = repetitions(bench, source)
      const tree = await bench.tree(source)
      let arena: Arena | undefined
      const current = (): Arena => {
        if (arena === undefined) throw new Error('No round has begun')
        return arena
      }
      const medians = await runRounds({
        contestants: contestants(current),
        count,
        warmUps: 0,
        async before(round) {
          bench.log(`first save of ${tree.name}, ${round + 1} of ${count}`)
          arena = await newArena(bench, tree)
        },
      })
      if ('shape' in source) await proveSameTree(current())
      bench.keep(current())
      return against(medians, { ours: OURS, limit })
    },
  }
}

/** Equal work: what we stored is, to the bit, the tree git made of the same folder. */
export async function proveSameTree({ home, hermes, tree }: Arena): Promise<void> {
  const store = { cwd: home, environment: { GIT_DIR: join(home, 'objects.git') } }
  const checkpoint = await git(['for-each-ref', '--format=%(refname)', 'refs/savestate'], store)
  const ours = await git(['rev-parse', `${checkpoint}:files`], store)
  const theirs = await git(['rev-parse', 'refs/hermes/hermes^{tree}'], hermes.call)
  if (ours !== theirs) throw new Error(`For ${tree.name} we stored ${ours}, git stored ${theirs}`)
}

function repetitions({ quick }: Bench, source: TreeSource): number {
  if (treeName(source) === '2k') return quick ? 3 : 5
  return quick ? 1 : 3
}

function contestants(arena: () => Arena): readonly Contestant[] {
  const all: readonly Contestant[] = [
    { name: 'hermes', time: () => asContestant(arena().hermes).time() },
    { name: OURS, time: () => withOurs(arena(), saveInChild) },
    { name: 'shadow', time: () => asContestant(arena().shadow).time() },
    { name: 'opencode', time: () => asContestant(arena().opencode).time() },
  ]
  return all.map(({ name, time }) => ({
    name,
    async time() {
      await flushDisk()
      return time()
    },
  }))
}
