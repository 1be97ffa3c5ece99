/**
 * The cost of maintenance: the time of `status` on a large store, and how long a concurrent save
 * waits while a prune collects. The other figure is the limit.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Bench } from '../bench.js'
import { median, timed } from '../measure.js'
import { run } from '../programs.js'
import { atMost, type Row } from '../row.js'
import { cliPath, openStore } from '../sdk.js'

const PROJECTS = 250
const CHECKPOINTS = 20
const MAX_STATUS_MS = 300
const MAX_WAIT_MS = 50

export const statusTime: Row = {
  name: `status-${PROJECTS}`,
  slow: true,
  async measure(bench) {
    const home = await filledStore(bench, { projects: PROJECTS, checkpoints: CHECKPOINTS })
    const times: number[] = []
    for (let round = 0; round < 7; round += 1) {
      times.push(await timed(() => savestate(home, ['status'])))
    }
    return atMost(MAX_STATUS_MS, {
      ours: median(times),
      unit: 'ms',
      detail: `${PROJECTS} projects, ${PROJECTS * CHECKPOINTS} checkpoints, start-up included`,
    })
  },
}

/** Appends to a session continuously; a collection may delay each transaction. */
export const waitBesidePrune: Row = {
  name: 'wait-beside-prune',
  slow: true,
  async measure(bench) {
    const home = await filledStore(bench, { projects: 20, checkpoints: CHECKPOINTS })
    const store = await openStore(home)
    const session = await store.session('beside')
    const waits = async (until: Promise<unknown>) => {
      let isOver = false
      void until.finally(() => {
        isOver = true
      })
      let longest = 0
      while (!isOver) {
        // An append returns without yielding to the event loop, so the end would not be noticed.
        await nextTurn()
        longest = Math.max(longest, await timed(() => session.append('items', ['x'.repeat(200)])))
      }
      return longest
    }
    const alone = await waits(new Promise((resolve) => setTimeout(resolve, 3000)))
    const prune = savestate(home, [
      'prune',
      '-y',
      '--max-checkpoints',
      '2',
      '--max-size-mb',
      '1000',
    ])
    const beside = await waits(prune)
    await prune
    await store.close()
    return atMost(MAX_WAIT_MS, {
      ours: Math.max(0, beside - alone),
      unit: 'ms',
      detail: `longest append ${beside.toFixed(1)} beside a prune, ${alone.toFixed(1)} without`,
    })
  },
}

async function filledStore(
  bench: Bench,
  { projects, checkpoints }: { readonly projects: number; readonly checkpoints: number },
): Promise<string> {
  const dir = bench.scratch.folder(`care-${projects}`)
  const home = join(dir, 'home')
  bench.log(`${projects} projects with ${checkpoints} checkpoints each`)
  // Only the result counts, so skip fsync.
  const store = await openStore(home, { durability: 'process' })
  for (let p = 0; p < projects; p += 1) {
    const path = join(dir, `project-${p}`)
    mkdirSync(path, { recursive: true })
    const project = await store.project(path)
    for (let n = 0; n < checkpoints; n += 1) {
      writeFileSync(join(path, 'file'), `${p} ${n}\n`.repeat(50))
      await project.save({ reason: `save ${n}` })
    }
  }
  await store.close()
  return home
}

function savestate(home: string, args: readonly string[]): Promise<string> {
  const environment = { SAVESTATE_HOME: home }
  return run({ program: process.execPath, args: [cliPath, ...args], cwd: '/', environment })
}
