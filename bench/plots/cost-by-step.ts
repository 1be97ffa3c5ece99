/** The cost of a shared save by the length of the session: ours and PostgresSaver's, on one server. */
import { type Bench, OURS } from '../bench.js'
import { startChild } from '../child-process.js'
import { median } from '../measure.js'
import { postgresPeers, requirePeers } from '../peers/installed-peers.js'
import { emptyDatabase, remoteDatabase } from '../rows/shared/server.js'
import { SESSION } from '../states/state-child.js'
import type { WriterName } from '../states/state-writers.js'
import type { Series } from './cost-by-size.js'

const STEPS = [10, 30, 100, 300, 1000, 3000] as const
const MEASURED = 7

export async function costByStep(bench: Bench): Promise<readonly Series[]> {
  const packages = requirePeers(await postgresPeers(bench))
  const writers: readonly (readonly [string, WriterName])[] = [
    [`${OURS}, append`, 'append'],
    [`${OURS}, LangGraph`, 'SavestateSaver'],
    ['PostgresSaver', 'PostgresSaver'],
  ]
  const series: Series[] = []
  for (const [name, writer] of writers) {
    const isPeer = writer === 'PostgresSaver'
    const { url: remote } = await (isPeer ? emptyDatabase(bench) : remoteDatabase(bench))
    const folder = bench.scratch.folder('by-step')
    const child = startChild()
    try {
      bench.log(`${name}: up to step ${STEPS.at(-1)}`)
      const place = { folder, session: SESSION, packages, remote }
      await child.ask({ kind: 'begin-writing', writer, place, after: 0 })
      const points: (readonly [number, number])[] = []
      let done = 0
      for (const step of STEPS) {
        // The peer's steps cost the same whatever was before.
        const kind = isPeer ? 'leap' : 'steps'
        await child.ask({ kind, steps: step - MEASURED - done })
        points.push([step, median(await child.ask({ kind: 'steps', steps: MEASURED }))])
        done = step
      }
      await child.ask({ kind: 'end-writing' })
      series.push({ name, points })
    } finally {
      await child.end()
    }
  }
  return series
}
