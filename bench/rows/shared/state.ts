/**
 * Saves that return once PostgreSQL has them, at step 3,000, compared with LangGraph's PostgresSaver on the same server, which writes
 * the whole list each time.
 */
import { shared } from '../../bench.js'
import { figureOf, type Medians } from '../../measure.js'
import { postgresPeers, requirePeers } from '../../peers/installed-peers.js'
import { MEGABYTE, type Row } from '../../row.js'
import { emptyDatabase, remoteDatabase, sizeOfTables } from './server.js'
import { conversationOf } from '../../states/conversation.js'
import { LENGTH, race } from '../../states/state-race.js'

const APPEND = 'append'
const SHORT_LENGTH = 100
const SHORT = `append at step ${SHORT_LENGTH}`
const SAVE = 'save'
const SAVER = 'SavestateSaver'
const PEER = 'PostgresSaver'

type Measured = { readonly steps: Medians; readonly tableBytes: number }

const measured = shared(async (bench): Promise<Measured> => {
  const { scratch } = bench
  const packages = requirePeers(await postgresPeers(bench))
  const databases = {
    [APPEND]: await remoteDatabase(bench),
    [SHORT]: await remoteDatabase(bench),
    [SAVE]: await remoteDatabase(bench),
    [SAVER]: await remoteDatabase(bench),
    [PEER]: await emptyDatabase(bench),
  }
  const place = (name: keyof typeof databases) => ({
    name,
    folder: scratch.folder('shared'),
    remote: databases[name].url,
  })
  const { inARow } = await race(bench, [
    { ...place(APPEND), writer: 'append', length: LENGTH, before: { how: 'each' } },
    {
      ...place(SHORT),
      writer: 'append',
      length: SHORT_LENGTH,
      before: { how: 'aged', steps: LENGTH - SHORT_LENGTH },
    },
    { ...place(SAVE), writer: 'save', length: LENGTH, before: { how: 'each' } },
    { ...place(SAVER), writer: 'SavestateSaver', length: LENGTH, before: { how: 'each' } },
    // Its steps cost the same whatever was before.
    { ...place(PEER), writer: 'PostgresSaver', packages, length: LENGTH, before: { how: 'leap' } },
  ])
  return { steps: inARow, tableBytes: await sizeOfTables(databases[APPEND]) }
})

function againstPeer(name: string, { ours, limit }: { ours: string; limit: number }): Row {
  return {
    name: `shared-${name}-${LENGTH}`,
    async measure(bench) {
      const { steps } = await measured(bench)
      return {
        ours: figureOf(steps, ours),
        peer: figureOf(steps, PEER),
        limit,
        unit: 'ms',
        detail: `${PEER}.put on the same server; p50`,
      }
    },
  }
}

export const sharedAppend = againstPeer('append', { ours: APPEND, limit: 0.05 })
export const sharedSave = againstPeer('save', { ours: SAVE, limit: 0.08 })
export const sharedPut = againstPeer('langgraph-put', { ours: SAVER, limit: 0.1 })

export const sharedGrowth: Row = {
  name: `shared-append-${LENGTH}-of-${SHORT_LENGTH}`,
  async measure(bench) {
    const { steps } = await measured(bench)
    const [ours, peer] = [figureOf(steps, APPEND), figureOf(steps, SHORT)]
    return { ours, peer, limit: 1.3, unit: 'ms', detail: 'p50, against our own' }
  },
}

/** The limit is three times the content. */
const MAX_TIMES = 3

export const sharedDisk: Row = {
  name: `shared-disk-${LENGTH}`,
  async measure(bench) {
    const { tableBytes } = await measured(bench)
    const content = Buffer.byteLength(JSON.stringify(conversationOf(LENGTH).messages))
    return {
      ours: tableBytes / MEGABYTE,
      peer: content / MEGABYTE,
      limit: MAX_TIMES,
      unit: 'MB',
      detail: 'tables and indexes on the server after a plain VACUUM, against the content',
    }
  },
}
