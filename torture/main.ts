// npm run torture -- --minutes N --seed S [--watch | --daemon]: several processes work on one store and are killed at random, with a
// model outside that knows what was acknowledged. docs/internals/reliability.md has the guarantees.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { seededRandom } from '../bench/trees/random.js'
import { checkAll, checkFolders, checkStore } from './check.js'
import { answerOf, type Program } from './commands.js'
import { Crew } from './crew.js'
import { Model } from './model.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    processes: { type: 'string', default: '4' },
    projects: { type: 'string', default: '3' },
    watch: { type: 'boolean', default: false },
    daemon: { type: 'boolean', default: false },
  },
})
const ASK_EVERY_MS = 5000
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const random = seededRandom(seed)
const until = Date.now() + Number(values.minutes) * 60_000
const folder = mkdtempSync(join(tmpdir(), 'savestate-torture-'))
const home = join(folder, 'store')
const projects = Array.from({ length: Number(values.projects) }, (_, n) =>
  join(folder, `project-${n}`),
)
for (const path of [home, ...projects]) mkdirSync(path, { mode: 0o700 })
// Small limits, so that prunes always have something to do.
const config = { retention: 'hermes', maxCheckpoints: 6, maxSizeMb: 4, autoPrune: false }
writeFileSync(join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 })

/** The bundle is build/torture/main.js, two folders below the project. */
const sdk = new URL('../../dist/index.js', import.meta.url).href
const worker = fileURLToPath(new URL('./worker.js', import.meta.url))
const program = values.daemon
  ? { bin: fileURLToPath(new URL('./cli/bin.js', sdk)), home }
  : undefined
const { openStore } = (await import(sdk)) as typeof import('../src/index.js')
console.log(`Seed ${seed}, ${values.minutes} minutes, in ${folder}`)

const model = new Model()
const crew = new Crew(worker, model, (slot) => ({
  sdk,
  home,
  projects,
  session: `session-${slot}`,
  seed: random.below(2 ** 31),
  watch: values.watch,
  program,
}))
if (program !== undefined) await answerOf(program, ['daemon', 'start', '--json'])
let askedAtMs = Date.now()
let daemonPid: unknown
for (let slot = 0; slot < Number(values.processes); slot += 1) crew.start(slot)
while (Date.now() < until && model.faults.length === 0) {
  // Sometimes directly after its start, sometimes later.
  await sleep(random.below(4) === 0 ? random.below(60) : 100 + random.below(1500))
  crew.killOne(random)
  if (program === undefined || Date.now() - askedAtMs < ASK_EVERY_MS) continue
  askedAtMs = Date.now()
  await noteDaemon(program)
}
await crew.stop(60_000)
if (program !== undefined) {
  await noteDaemon(program)
  await answerOf(program, ['daemon', 'stop', '--json'])
}

const store = await openStore({ home })
const found = await checkAll(store, model, projects)
// Keep the folder of a failed run for inspection.
if (model.faults.length === 0) {
  await store.prune()
  await checkStore(store, model, home)
}
checkFolders(model, projects)
await store.close()

console.log(
  `${crew.kills} kills, ${found.checkpoints} checkpoints brought back, ${found.pruned} pruned, ${found.states} sessions`,
)
console.log([...model.counts].map(([what, count]) => `${what} ${count}`).join(', '))
const measured = program === undefined ? 'process that was never killed' : 'daemon'
console.log(`Memory of the ${measured}, in MB: ${memoryText(model.memoryMb)}`)
if (model.faults.length === 0) {
  rmSync(folder, { recursive: true, force: true })
  console.log('Nothing acknowledged is missing or different.')
} else {
  for (const fault of model.faults.slice(0, 20)) console.error(`FAULT: ${fault}`)
  console.error(
    `${model.faults.length} faults. Again with: npm run torture -- --seed ${seed}${values.watch ? ' --watch' : ''}${values.daemon ? ' --daemon' : ''}; the store is in ${folder}`,
  )
  process.exitCode = 1
}

/** Checks that the same daemon runs all the time, and records its memory. */
async function noteDaemon(program: Program): Promise<void> {
  const { running, pid, memoryBytes } = await answerOf(program, ['daemon', 'status', '--json'])
  if (running !== true) model.fault('the daemon is gone')
  daemonPid ??= pid
  if (pid !== daemonPid)
    model.fault(`the daemon is process ${String(pid)}, not ${String(daemonPid)}`)
  model.memoryMb.push(Math.round(Number(memoryBytes) / 2 ** 20))
}

/** Per tenth of the time, to show growth. */
function memoryText(all: readonly number[]): string {
  const step = Math.max(1, Math.floor(all.length / 10))
  return all.filter((_, index) => index % step === 0).join(', ')
}
