/**
 * The disk usage of a hundred saves of one changed file each, after the same collection for all.
 * On the 2k tree, in separate stores.
 */
import { join } from 'node:path'
import { asContestant, newArena, OURS, saveInChild, type TreeSource, withOurs } from '../bench.js'
import { git } from '../peers/git.js'
import { smallest } from '../measure.js'
import { hermesWithoutReadTree } from '../peers/peers.js'
import { MEGABYTE, type Row } from '../row.js'
import { sizeOnDisk } from '../trees/tree.js'

const SAVES = 100
const LIMIT = 1.1
const SOURCE: TreeSource = { shape: '2k' }

export const diskAfterSaves: Row = {
  name: `disk-${SAVES}-saves`,
  async measure(bench) {
    const tree = await bench.tree(SOURCE)
    const arena = await newArena(bench, tree)
    bench.log(`${SAVES} saves of one changed file of ${tree.name}`)
    // The first lane of (a) makes the first save; the other continues without `read-tree`,
    // which takes a tenth of the time and stores the same objects.
    await arena.hermes.save()
    await arena.shadow.save()
    const peers = [hermesWithoutReadTree(arena.hermes), arena.shadow].map(asContestant)
    await withOurs(arena, async (child) => {
      await saveInChild(child)
      for (let count = 0; count < SAVES; count += 1) {
        tree.change()
        for (const peer of peers) await peer.time()
        await saveInChild(child)
      }
    })

    const stores = new Map([
      [OURS, join(arena.home, 'objects.git')],
      ['hermes', arena.hermes.gitDir],
      ['shadow', arena.shadow.gitDir],
    ])
    const before = sizes(stores)
    bench.log('collecting')
    for (const [, dir] of stores) {
      await git(['gc', '--prune=now', '--quiet'], { cwd: dir, environment: { GIT_DIR: dir } })
    }
    const after = sizes(stores)

    const best = smallest(new Map([...after].filter(([name]) => name !== OURS)))
    return {
      ours: after.get(OURS) ?? Number.NaN,
      peer: best.figure,
      limit: LIMIT,
      unit: 'MB',
      detail: `2k tree, smallest peer ${best.name}; before collection ${listed(before)}`,
    }
  },
}

function sizes(stores: ReadonlyMap<string, string>): ReadonlyMap<string, number> {
  return new Map([...stores].map(([name, dir]) => [name, sizeOnDisk(dir) / MEGABYTE]))
}

function listed(figures: ReadonlyMap<string, number>): string {
  return [...figures].map(([name, megabytes]) => `${name} ${megabytes.toFixed(1)}`).join(', ')
}
