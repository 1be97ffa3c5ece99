/**
 * A save with one changed file in a tree that all contestants have saved before. In every round one more file
 * is changed, and all save it: ours from a long-running process or by the command line.
 */
import process from 'node:process'
import {
  type Arena,
  type Bench,
  OURS,
  saveInChild,
  type TreeSource,
  treeName,
  warmPeers,
  withOurs,
} from '../bench.js'
import { type Contestant, type Medians, runRounds, timed } from '../measure.js'
import { run } from '../programs.js'
import { against, type Row } from '../row.js'
import { cliPath } from '../sdk.js'

const RUNNING_LIMIT = 0.6
const CLI_LIMIT = 1.3
const WARM_UPS = 2

/** From a running process. */
export function saveOneRunning(source: TreeSource): Row {
  return {
    name: `save-1-of-${treeName(source)}-running`,
    async measure(bench) {
      const arena = await bench.arena(source)
      const medians = await withOurs(arena, (child) => {
        const ours = { name: OURS, time: () => saveInChild(child) }
        return contest(bench, { arena, contestants: [ours, ...warmPeers(arena)] })
      })
      return against(medians, { ours: OURS, limit: RUNNING_LIMIT })
    },
  }
}

/** By the command line, from starting Node to its end. */
export function saveOneCli(source: TreeSource): Row {
  return {
    name: `save-1-of-${treeName(source)}-cli`,
    async measure(bench) {
      const arena = await bench.arena(source)
      const ours = { name: OURS, time: () => timed(() => saveByCommand(arena)) }
      // (a) with its read-tree reads every file again, so it is by far the slowest, as the row above shows.
      const peers = warmPeers(arena).filter(({ name }) => name !== arena.hermes.name)
      const before = await checkpointCount(arena)
      const medians = await contest(bench, { arena, contestants: [ours, ...peers] })
      const made = (await checkpointCount(arena)) - before
      const saves = WARM_UPS + roundCount(bench)
      if (made !== saves) throw new Error(`${saves} commands made ${made} checkpoints`)
      return against(medians, { ours: OURS, limit: CLI_LIMIT })
    },
  }
}

function contest(
  bench: Bench,
  { arena, contestants }: { arena: Arena; contestants: readonly Contestant[] },
): Promise<Medians> {
  bench.log(`saves of one changed file of ${arena.tree.name}`)
  return runRounds({
    contestants,
    count: roundCount(bench),
    warmUps: WARM_UPS,
    before() {
      arena.tree.change()
    },
  })
}

function roundCount({ quick }: Bench): number {
  return quick ? 5 : 11
}

function checkpointCount(arena: Arena): Promise<number> {
  return withOurs(arena, (child) => child.ask({ kind: 'count' }))
}

async function saveByCommand({ home, tree }: Arena): Promise<void> {
  await run({
    program: process.execPath,
    args: [cliPath, 'save', '-m', 'x', '-C', tree.path],
    cwd: tree.path,
    environment: { SAVESTATE_HOME: home },
  })
}
