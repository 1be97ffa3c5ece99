/** The daemon: an agent's event over HTTP and by a command, and its memory with many projects. */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { type Bench, type TreeSource, treeName } from '../bench.js'
import { inNewChild } from '../child-process.js'
import { shellEvent, withDaemon } from '../daemon.js'
import { figureOf, median, runRounds, timed } from '../measure.js'
import { run } from '../programs.js'
import { atMost, MEGABYTE, type Row } from '../row.js'
import { cliPath } from '../sdk.js'

const HTTP_MS = 12
const COMMAND_LIMIT = 2
const PROJECTS = 10
const PROJECT_SHAPE = { files: 5_000, folders: 500, medianBytes: 1_000, spread: 0.8 }
const MAX_MEGABYTES = 150
const WARM_UPS = 2

/** One file changed, saved and answered, over a connection that stays open. */
export function hookHttp(source: TreeSource): Row {
  return {
    name: `hook-http-${treeName(source)}`,
    async measure(bench) {
      const { tree, home } = await bench.arena(source)
      bench.log(`hooks in ${tree.name}, over HTTP`)
      const times = await withDaemon(home, async (daemon) => {
        const found: number[] = []
        for (let round = 0; round < WARM_UPS + eventCount(bench); round += 1) {
          tree.change()
          found.push(await timed(() => daemon.hook(tree.path)))
        }
        return found.slice(WARM_UPS)
      })
      const worst = Math.max(...times).toFixed(1)
      return atMost(HTTP_MS, { ours: median(times), unit: 'ms', detail: `p50; worst ${worst}` })
    },
  }
}

/** The same with one process per event, from its start to its end. */
export function hookCommand(source: TreeSource): Row {
  return {
    name: `hook-command-${treeName(source)}`,
    async measure(bench) {
      const { tree, home } = await bench.arena(source)
      bench.log(`hooks in ${tree.name}, by commands that the daemon serves`)
      const started = (args: readonly string[], input = ''): Promise<number> =>
        timed(() =>
          run({
            program: process.execPath,
            args,
            cwd: tree.path,
            environment: { SAVESTATE_HOME: home },
            input,
          }),
        )
      const medians = await withDaemon(home, async (daemon) => {
        await daemon.save(tree.path)
        return runRounds({
          contestants: [
            {
              name: 'hook',
              time: () =>
                started(
                  [cliPath, 'hook', 'claude', 'PostToolUse'],
                  shellEvent(tree.path, 'PostToolUse'),
                ),
            },
            { name: 'node', time: () => started(['-e', '0']) },
          ],
          count: roundCount(bench),
          warmUps: WARM_UPS,
          before: () => void tree.change(),
        })
      })
      const node = figureOf(medians, 'node')
      return {
        ours: figureOf(medians, 'hook'),
        peer: node,
        limit: COMMAND_LIMIT,
        unit: 'ms',
        detail: 'beside node -e 0',
      }
    },
  }
}

/** Its memory after all of them were saved twice. */
export const daemonMemory: Row = {
  name: 'daemon-memory',
  async measure({ scratch, log }) {
    log(`memory of the daemon with ${PROJECTS} projects`)
    const projects: string[] = []
    for (let number = 0; number < PROJECTS; number += 1) {
      const root = scratch.path(`daemon-project-${number}`)
      await inNewChild({ kind: 'grow', root, shape: PROJECT_SHAPE })
      projects.push(root)
    }
    const memory = await withDaemon(scratch.folder('daemon-home'), async (daemon) => {
      for (const path of [...projects, ...projects]) await daemon.save(path)
      return memoryOf(daemon.pid)
    })
    return atMost(MAX_MEGABYTES, {
      ours: memory.now / MEGABYTE,
      unit: 'MB',
      detail: `resident after two saves of each; peak ${Math.round(memory.peak / MEGABYTE)}`,
    })
  },
}

function roundCount({ quick }: Bench): number {
  return quick ? 5 : 21
}

/** As many as in a typical agent session: a new daemon is slower for the first of them. */
function eventCount({ quick }: Bench): number {
  return quick ? 25 : 100
}

/** As reported by the kernel; Linux only. */
function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const figure = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) * 1024
  return { now: figure('VmRSS'), peak: figure('VmHWM') }
}
