/**
 * A rewind after one changed file, compared with `read-tree` + `checkout-index -a -f`. That rewrites every
 * file, so the peer works on a copy of the tree; both copies get the same change in each round.
 */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Arena, type Bench, OURS, type TreeSource, treeName, withOurs } from '../bench.js'
import { startChild } from '../child-process.js'
import { type GitCall, git } from '../peers/git.js'
import { runRounds, flushDisk, timed } from '../measure.js'
import { hermesCall } from '../peers/peers.js'
import { against, type Row } from '../row.js'
import { changeFile } from '../trees/tree.js'

const LIMIT = 0.5

export function rewindOne(source: TreeSource): Row {
  return {
    name: `rewind-1-of-${treeName(source)}`,
    async measure(bench) {
      const arena = await bench.arena(source)
      const peer = await preparePeer(bench, arena)
      const medians = await withOurs(arena, async (child) => {
        const { id } = await child.ask({ kind: 'save', probed: false })
        const rewindOurs = async (): Promise<number> => {
          const { ms } = await child.ask({ kind: 'rewind', to: id })
          return ms
        }
        const check = checkedChange({ ours: arena.tree.path, peer: peer.call.cwd })
        bench.log(`rewinds of ${arena.tree.name}`)
        const result = await runRounds({
          contestants: [
            { name: 'read-tree + checkout-index', time: () => timed(peer.rewind) },
            { name: OURS, time: rewindOurs },
          ],
          count: bench.quick ? 3 : 7,
          warmUps: 1,
          async before(round) {
            check.lastIsBack()
            check.change(arena.tree.facts.changeable.at(-1 - round))
            await flushDisk()
          },
        })
        check.lastIsBack()
        return result
      })
      return against(medians, { ours: OURS, limit: LIMIT })
    },
  }
}

async function preparePeer(
  { scratch, log }: Bench,
  { tree, hermes }: Arena,
): Promise<{ readonly call: GitCall; readonly rewind: () => Promise<void> }> {
  log(`copying ${tree.name} for the peer`)
  const copy = scratch.path(`peer-${tree.name}`)
  const child = startChild()
  try {
    await child.ask({ kind: 'copy', from: tree.path, to: copy })
  } finally {
    await child.end()
  }
  const call = hermesCall({ tree: copy, gitDir: hermes.gitDir, lane: 'rewind' })
  await git(['add', '-A'], call)
  const saved = await git(['write-tree'], call)
  return {
    call,
    async rewind() {
      await git(['read-tree', saved], call)
      await git(['checkout-index', '-a', '-f'], call)
    },
  }
}

/** Changes the same file on both sides, and checks afterwards that both were restored. */
function checkedChange(roots: { ours: string; peer: string }): {
  change(path: string | undefined): void
  lastIsBack(): void
} {
  let changes = 0
  let last: { path: string; text: string } | undefined
  const bothOf = (path: string): readonly string[] => [
    path,
    join(roots.peer, relative(roots.ours, path)),
  ]
  return {
    change(path) {
      if (path === undefined) throw new Error('No file left to change')
      last = { path, text: readFileSync(path, 'latin1') }
      changes += 1
      for (const one of bothOf(path)) changeFile(one, changes)
    },
    lastIsBack() {
      if (last === undefined) return
      for (const one of bothOf(last.path)) {
        if (readFileSync(one, 'latin1') !== last.text) throw new Error(`${one} did not come back`)
      }
    },
  }
}
