/**
 * The time that an agent waits at each of 100 consecutive tool calls: the hook before and the hook after the call, with one
 * file changed in between.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { type Bench, type TreeSource, treeName } from '../bench.js'
import { type ShellEventName, shellEvent, withDaemon } from '../daemon.js'
import { median, quantile, timed } from '../measure.js'
import { run } from '../programs.js'
import { atMost, type Row } from '../row.js'
import { cliPath } from '../sdk.js'

const CALLS = 100
const HTTP_MS = 15
const COMMAND_LIMIT = 2.5
const WARM_UPS = 2

export function callsHttp(source: TreeSource): Row {
  return {
    name: `calls-http-${treeName(source)}`,
    async measure(bench) {
      const { tree, home } = await bench.arena(source)
      bench.log(`${CALLS} tool calls in ${tree.name}, hooks over HTTP`)
      const times = await withDaemon(home, async (daemon) => {
        // Twice: the first save scans the whole folder, and the second starts the watch.
        await daemon.save(tree.path)
        return calls(bench, tree.path, {
          tell: (moment) => timed(() => daemon.hook(tree.path, moment)),
        })
      })
      const detail = `p50 of before and after together; p95 ${quantile(times, 0.95).toFixed(1)}`
      return atMost(HTTP_MS, { ours: median(times), unit: 'ms', detail })
    },
  }
}

/** Alternates with the same two hooks as `node -e 0`, so that noise on the machine affects both equally. */
export function callsCommand(source: TreeSource): Row {
  return {
    name: `calls-command-${treeName(source)}`,
    async measure(bench) {
      const { tree, home } = await bench.arena(source)
      bench.log(`${CALLS} tool calls in ${tree.name}, hooks as commands that the daemon serves`)
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
      const node: number[] = []
      const times = await withDaemon(home, async (daemon) => {
        await daemon.save(tree.path)
        return calls(bench, tree.path, {
          async tell(moment) {
            const input = shellEvent(tree.path, moment)
            const ms = await started([cliPath, 'hook', 'claude', moment], input)
            node.push(await started(['-e', '0']))
            return ms
          },
        })
      })
      const detail = 'p50 of before and after together, beside the same hooks as node -e 0'
      const peer = 2 * median(node)
      return { ours: median(times), peer, limit: COMMAND_LIMIT, unit: 'ms', detail }
    },
  }
}

/** The milliseconds of waiting at each call. */
async function calls(
  { quick }: Bench,
  path: string,
  { tell }: { readonly tell: (moment: ShellEventName) => Promise<number> },
): Promise<readonly number[]> {
  const times: number[] = []
  const count = quick ? CALLS / 4 : CALLS
  for (let call = 0; call < WARM_UPS + count; call += 1) {
    const before = await tell('PreToolUse')
    appendFileSync(join(path, 'calls.txt'), `${call}\n`)
    times.push(before + (await tell('PostToolUse')))
  }
  return times.slice(WARM_UPS)
}
