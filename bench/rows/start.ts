/**
 * The time of a command with almost no work, from starting Node to its end, compared with a start of Node itself.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { type Bench, OURS } from '../bench.js'
import { runRounds, timed } from '../measure.js'
import { run } from '../programs.js'
import { against, type Measured, type Row } from '../row.js'
import { cliPath, openStore } from '../sdk.js'

const NODE = 'node -e 0'
const CHECKPOINTS = 20
/** Node 20 has no cache of compiled code that a program can use. */
const LIST_LIMIT = Number.parseInt(process.versions.node, 10) >= 22 ? 1.8 : 2.5

export const startVersion: Row = {
  name: 'start-version',
  measure: (bench) =>
    contest(bench, { folder: bench.scratch.path('version'), args: ['--version'], limit: 1.5 }),
}

export const startList: Row = {
  name: 'start-list',
  async measure(bench) {
    const folder = bench.scratch.path('list')
    mkdirSync(join(folder, 'project'), { recursive: true })
    const store = await openStore(join(folder, 'home'))
    const project = await store.project(join(folder, 'project'))
    for (let i = 0; i < CHECKPOINTS; i += 1) {
      writeFileSync(join(folder, 'project', 'file.txt'), `${i}\n`)
      await project.save({ reason: `number ${i}` })
    }
    await store.close()
    return contest(bench, {
      folder,
      args: ['list', '-C', join(folder, 'project')],
      limit: LIST_LIMIT,
    })
  },
}

async function contest(
  bench: Bench,
  { folder, args, limit }: { folder: string; args: readonly string[]; limit: number },
): Promise<Measured> {
  bench.log(`starts of \`savestate ${args[0]}\``)
  mkdirSync(folder, { recursive: true })
  const start = (given: readonly string[]) => () =>
    timed(async () => {
      const environment = { SAVESTATE_HOME: join(folder, 'home') }
      await run({ program: process.execPath, args: given, cwd: folder, environment })
    })
  const medians = await runRounds({
    contestants: [
      { name: OURS, time: start([cliPath, ...args]) },
      { name: NODE, time: start(['-e', '0']) },
    ],
    count: bench.quick ? 21 : 51,
    warmUps: 3,
    before: () => undefined,
  })
  return { ...against(medians, { ours: OURS, limit }), detail: `${NODE}; medians` }
}
