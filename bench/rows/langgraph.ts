/**
 * `put` of a graph's checkpoint with a long list of plain messages: our saver, which flushes, compared with
 * LangGraph's own for SQLite, which does not.
 */
import { OURS } from '../bench.js'
import { installedPeers, requirePeers } from '../peers/installed-peers.js'
import { figureOf } from '../measure.js'
import type { Row } from '../row.js'
import { LENGTH, race } from '../states/state-race.js'

const LIMIT = 0.15
const SQLITE = 'SqliteSaver'

export const langgraphPut: Row = {
  name: `langgraph-put-${LENGTH}`,
  async measure(bench) {
    const { scratch } = bench
    const packages = requirePeers(await installedPeers(bench))
    const { inARow } = await race(bench, [
      {
        name: OURS,
        writer: 'SavestateSaver',
        folder: scratch.folder('saver'),
        length: LENGTH,
        before: { how: 'each' },
      },
      {
        name: SQLITE,
        writer: SQLITE,
        folder: scratch.folder('sqlite-saver'),
        packages,
        length: LENGTH,
        // A small database is the faster peer.
        before: { how: 'leap' },
      },
    ])
    return {
      ours: figureOf(inARow, OURS),
      peer: figureOf(inARow, SQLITE),
      limit: LIMIT,
      unit: 'ms',
      detail: `ours with fsync, SqliteSaver without, begun with one put of a long list; p50`,
    }
  },
}
