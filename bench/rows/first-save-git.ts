/**
 * The first save of a clean checkout: a clone, so that its contents are in a pack, as they are in nearly every
 * checkout, and its index is younger than its files. The peers save the very same folder.
 */
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { type Arena, asContestant, newArena, OURS, saveInChild, withOurs } from '../bench.js'
import { git } from '../git.js'
import { runRounds, settleDisk } from '../measure.js'
import { against, type Row } from '../row.js'
import { proveSameTree } from './first-save.js'

const LIMIT = 0.1

export const firstSaveOfCheckout: Row = {
  name: 'first-save-git-23k',
  async measure(bench) {
    const count = bench.quick ? 2 : 5
    const plain = await bench.tree({ shape: '23k' })
    bench.log('cloning 23k')
    const origin = bench.scratch.path('origin.git')
    const path = bench.scratch.path('checkout')
    const call = { cwd: bench.scratch.folder('git'), environment: { GIT_DIR: origin } }
    await git(['init', '-q', '--bare', origin], { cwd: call.cwd })
    const withTree = { ...call, environment: { ...call.environment, GIT_WORK_TREE: plain.path } }
    await git(['add', '-A'], { ...withTree, cwd: plain.path })
    await git(['commit', '-q', '-m', 'x'], { ...withTree, cwd: plain.path })
    await git(['clone', '-q', '--no-local', origin, path], { cwd: call.cwd })
    // As if git had been asked for the status since: what it wrote last is as old as its index.
    await new Promise((resolve) => setTimeout(resolve, 200))
    utimesSync(join(path, '.git', 'index'), new Date(), new Date())

    const tree = { ...plain, name: 'checkout', path }
    let arena: Arena | undefined
    const current = (): Arena => {
      if (arena === undefined) throw new Error('No round has begun')
      return arena
    }
    const medians = await runRounds({
      contestants: [
        {
          name: 'hermes',
          async time() {
            await settleDisk()
            return asContestant(current().hermes).time()
          },
        },
        {
          name: OURS,
          async time() {
            await settleDisk()
            return withOurs(current(), saveInChild)
          },
        },
      ],
      count,
      warmUps: 0,
      async before(round) {
        bench.log(`first save of a checkout, ${round + 1} of ${count}`)
        arena = await newArena(bench, tree)
      },
    })
    await proveSameTree(current())
    return against(medians, { ours: OURS, limit: LIMIT })
  },
}
