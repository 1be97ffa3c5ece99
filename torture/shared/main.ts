// npm run torture:shared -- --minutes N --seed S: processes on several hosts share sessions through one PostgreSQL server. They are
// killed, their networks fail, and the server is stopped hard, all at random. docs/internals/shared.md has the guarantees.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { seededRandom } from '../../bench/trees/random.js'
import { compactSegments } from '../../src/model/index.js'
import { openRemote } from '../../src/remote/index.js'
import { createDatabase, startServer } from '../../test/support/postgres/index.js'
import { startProxy, type TcpProxy } from '../../test/support/remote/tcp-proxy.js'
import { checkSessions } from './check.js'
import type { HostAssignment, ToModel } from './messages.js'
import { SharedModel } from './model.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    hosts: { type: 'string', default: '3' },
    sessions: { type: 'string', default: '4' },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const random = seededRandom(seed)
const until = Date.now() + Number(values.minutes) * 60_000
const folder = mkdtempSync(join(tmpdir(), 'savestate-torture-'))
const sessions = Array.from({ length: Number(values.sessions) }, (_, n) => `session-${n}`)
const sdk = new URL('../../dist/index.js', import.meta.url).href
const program = fileURLToPath(new URL('./shared-host.js', import.meta.url))
const { openStore } = (await import(sdk)) as typeof import('../../src/index.js')
const CLOCK_MINUTES = 10

const model = new SharedModel()
const server = await startServer()
const database = await createDatabase(server.url)
const keeper = await openRemote({ url: database.url })
await keeper.init()
const faults = { kills: 0, cuts: 0, stalls: 0, losses: 0, stops: 0, compactions: 0 }
console.log(`Seed ${seed}, ${values.minutes} minutes, in ${folder}`)

type Host = {
  readonly proxy: TcpProxy
  readonly assignment: HostAssignment
  child: ChildProcess
  /** The number of reports of its process since it started. */
  reports: number
}

const hosts: Host[] = []
let isStopping = false
for (let n = 0; n < Number(values.hosts); n += 1) {
  const proxy = await startProxy(server)
  const assignment: HostAssignment = {
    sdk,
    home: join(folder, `host-${n}`),
    folder: join(folder, `work-${n}`),
    remote: database.urlWith({ port: proxy.port }),
    sessions,
    seed: random.below(2 ** 31),
    clockOffsetMs: (random.below(2 * CLOCK_MINUTES) - CLOCK_MINUTES) * 60_000,
  }
  const host: Host = { proxy, assignment, child: start(assignment), reports: 0 }
  watchEnd(host)
  hosts.push(host)
}

function start(assignment: HostAssignment): ChildProcess {
  const given = { ...assignment, seed: random.below(2 ** 31) }
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
  return fork(program, [JSON.stringify(given)], { stdio: [...stdio] })
}

/** Starts the next process of the host when one ends. */
function watchEnd(host: Host): void {
  host.reports = 0
  host.child.on('message', (message: ToModel) => {
    host.reports += 1
    model.hear(message)
  })
  host.child.on('exit', (code, signal) => {
    if (isStopping) return
    if (signal === null) model.fault(`a host ended by itself with ${code}`)
    host.child = start(host.assignment)
    watchEnd(host)
  })
}

const FAULTS: readonly (() => Promise<void>)[] = [killOne, killOne, cut, stall, loseAnswer, compact]

/** Only a process that has done something: on a busy machine they would all be killed while they start. */
async function killOne(): Promise<void> {
  const busy = hosts.filter(({ reports }) => reports > random.below(10))
  if (busy.length === 0) return
  random.pick(busy).child.kill('SIGKILL')
  faults.kills += 1
}

async function cut(): Promise<void> {
  const { proxy } = random.pick(hosts)
  proxy.cut()
  await sleep(random.below(300))
  proxy.resume()
  faults.cuts += 1
}

async function stall(): Promise<void> {
  const { proxy } = random.pick(hosts)
  proxy.stall()
  await sleep(random.below(500))
  proxy.resume()
  faults.stalls += 1
}

async function loseAnswer(): Promise<void> {
  await Promise.race([random.pick(hosts).proxy.dropAnswer(), sleep(500)])
  faults.losses += 1
}

/** As another host that collects. */
async function compact(): Promise<void> {
  const log = { kind: 'session', id: random.pick(sessions) } as const
  if (await keeper.compact(log, (contents) => compactSegments(contents, log)))
    faults.compactions += 1
  await keeper.collectPacks()
}

async function stopServer(): Promise<void> {
  await server.stop('immediate')
  await sleep(random.below(300))
  await server.start()
  faults.stops += 1
}

let stopServerAt = Date.now() + 5000
while (Date.now() < until && model.faults.length === 0) {
  await sleep(100 + random.below(400))
  if (Date.now() > stopServerAt) {
    await stopServer()
    stopServerAt = Date.now() + 5000 + random.below(5000)
  } else await random.pick(FAULTS)()
}

isStopping = true
for (const { proxy } of hosts) proxy.resume()
for (const { child } of hosts) {
  const ended = once(child, 'exit')
  if (child.exitCode !== null || child.signalCode !== null) continue
  child.send('stop')
  await ended
}

// A killed process of this machine holds no lease; a lease of a process that ended has been released.
mkdirSync(join(folder, 'fresh'))
const store = await openStore({ home: join(folder, 'fresh', 'home'), remote: database.url })
const found = await checkSessions(store, model, { sessions, folder: join(folder, 'fresh'), random })
await store.close()
await keeper.close()
for (const { proxy } of hosts) await proxy.dispose()
await server.dispose()

const counts = [...model.counts].map(([what, count]) => `${what} ${count}`).join(', ')
console.log(`${model.acknowledged} acknowledged; ${JSON.stringify(faults)}; ${counts}`)
console.log(`${found.checkpoints} checkpoints checked on a fresh host, ${found.restored} restored`)
for (const fault of model.faults) console.log(`FAULT ${fault}`)
if (model.faults.length === 0) {
  console.log('Nothing acknowledged is missing or different.')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
} else console.log(`The stores are in ${folder}`)
process.exitCode = model.faults.length === 0 ? 0 : 1
