/**
 * `save` with the whole state, a list that grows by a pair of messages in each step, compared with peers that
 * write the whole state too: LangGraph's SqliteSaver, which does not flush, and one JSON file per step.
 */
import { type Bench, OURS, shared } from '../bench.js'
import { conversationOf } from '../states/conversation.js'
import { installedPeers, requirePeers } from '../peers/installed-peers.js'
import { figureOf } from '../measure.js'
import { atMost, MEGABYTE, type Row } from '../row.js'
import { LENGTH, race, type Runner, type Steps } from '../states/state-race.js'
import { sizeOnDisk } from '../trees/tree.js'

const MAX_MS = 4
const MAX_OF_SQLITE = 0.1
const MAX_OF_CONTENT = 2
const SQLITE = 'SqliteSaver'
const JSON_WRITERS = ['JSON files', 'JSON files with fsync'] as const

interface Saved {
  readonly steps: Steps
  readonly home: string
  /** The peer whose database has all steps; none with `--quick`, or if it cannot be installed. */
  readonly sqliteFolder: string | undefined
}

const saved = shared(async (bench): Promise<Saved> => {
  const { scratch, quick } = bench
  const home = scratch.folder('saved')
  const ours: Runner = {
    name: OURS,
    writer: 'save',
    folder: home,
    length: LENGTH,
    before: { how: 'each' },
  }
  const sqlite = await sqliteRunner(bench)
  const json = JSON_WRITERS.map((writer): Runner => {
    const folder = scratch.folder(writer.replaceAll(' ', '-'))
    return { name: writer, writer, folder, length: LENGTH, before: { how: 'leap' } }
  })
  const steps = await race(bench, [ours, ...sqlite, ...json])
  return { steps, home, sqliteFolder: quick ? undefined : sqlite[0]?.folder }
})

/** All its steps take two minutes and 5 GB, so only a full run has them, for the row of sizes. */
async function sqliteRunner(bench: Bench): Promise<readonly Runner[]> {
  const installed = await installedPeers(bench)
  if (!installed.ok) return []
  const folder = bench.scratch.folder('sqlite-saver')
  const how = bench.quick ? 'leap' : 'each'
  const packages = installed.folder
  return [{ name: SQLITE, writer: SQLITE, folder, packages, length: LENGTH, before: { how } }]
}

export const saveTime: Row = {
  name: `state-save-${LENGTH}`,
  async measure(bench) {
    const { inARow, afterPause } = (await saved(bench)).steps
    const rested = figureOf(afterPause, OURS).toFixed(1)
    const others = JSON_WRITERS.map((name) => `${name} ${figureOf(inARow, name).toFixed(1)}`)
    return atMost(MAX_MS, {
      ours: figureOf(inARow, OURS),
      unit: 'ms',
      detail: `with fsync; p50; after a pause ${rested}; one per step: ${others.join(', ')}`,
    })
  },
}

export const saveOfSqlite: Row = {
  name: `state-save-${LENGTH}-of-sqlite`,
  async measure(bench) {
    requirePeers(await installedPeers(bench))
    const { steps, sqliteFolder } = await saved(bench)
    const seeded = sqliteFolder === undefined ? ', begun with one put of a long list' : ''
    return {
      ours: figureOf(steps.inARow, OURS),
      peer: figureOf(steps.inARow, SQLITE),
      limit: MAX_OF_SQLITE,
      unit: 'ms',
      detail: `ours with fsync, SqliteSaver without${seeded}; p50`,
    }
  },
}

export const stateDisk: Row = {
  name: `state-disk-${LENGTH}`,
  async measure(bench) {
    const { home, sqliteFolder } = await saved(bench)
    const contentBytes = Buffer.byteLength(JSON.stringify(conversationOf(LENGTH)))
    return {
      ours: sizeOnDisk(home) / MEGABYTE,
      peer: contentBytes / MEGABYTE,
      limit: MAX_OF_CONTENT,
      unit: 'MB',
      detail: `whole store, against the content; ${sqliteSize(bench, { sqliteFolder, contentBytes })}`,
    }
  },
}

function sqliteSize(
  { quick }: Bench,
  { sqliteFolder, contentBytes }: Pick<Saved, 'sqliteFolder'> & { contentBytes: number },
): string {
  if (quick) return 'SqliteSaver is not measured with --quick'
  if (sqliteFolder === undefined) return 'SqliteSaver could not be installed'
  const bytes = sizeOnDisk(sqliteFolder)
  const times = Math.round(bytes / contentBytes)
  return `SqliteSaver ${Math.round(bytes / MEGABYTE)} MB, ${times} times the content`
}
