// npm run torture:shared -- --minutes N --seed S: processes on several hosts share sessions through one PostgreSQL server. They are
// killed, their networks fail, and the server is stopped hard, all at random. docs/internals/reliability.md says what is checked.
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { seededRandom } from '../../bench/trees/random.js'
import { openRemote } from '../../src/remote/index.js'
import { systemClock } from '../../src/system/index.js'
import { createDatabase, startServer } from '../../test/support/postgres/index.js'
import { startProxy, type TcpProxy } from '../../test/support/remote/tcp-proxy.js'
import {
  countAudit,
  findViolations,
  KEEPER,
  removedCheckpoints,
  sessionIds,
  startAudit,
} from './audit.js'
import { checkSessions } from './check.js'
import { Faults } from './faults.js'
import type { HostAssignment } from './messages.js'
import { SharedModel } from './model.js'
import { followRecord } from './record.js'

const { values } = parseArgs({
  options: {
    /** The longest time, if there are counts to reach. */
    minutes: { type: 'string', default: '2' },
    /** Ends when so many saves were acknowledged, so many processes were killed, and each fault has happened. */
    saves: { type: 'string' },
    kills: { type: 'string' },
    seed: { type: 'string' },
    hosts: { type: 'string', default: '3' },
    processes: { type: 'string', default: '2' },
    sessions: { type: 'string', default: '4' },
    /** The remote has a key, or none; by the seed if neither is given. */
    key: { type: 'boolean' },
    plain: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const random = seededRandom(seed)
const until = Date.now() + Number(values.minutes) * 60_000
const folder = mkdtempSync(join(tmpdir(), 'savestate-torture-'))
/** Steady ones only grow, the others are also rewound, forked and pruned. */
const sessions = Array.from({ length: Number(values.sessions) }, (_, n) =>
  n % 2 === 0 ? `steady-${n}` : `other-${n}`,
)
const hasKey = values.key ?? (!values.plain && seed % 2 === 1)
const key = hasKey ? randomBytes(32).toString('hex') : null
const keyFile = join(folder, 'key')
if (key !== null) writeFileSync(keyFile, key, { mode: 0o600 })
const sdk = new URL('../../dist/index.js', import.meta.url).href
const program = fileURLToPath(new URL('./shared-host.js', import.meta.url))
const { openStore } = (await import(sdk)) as typeof import('../../src/index.js')
const CLOCK_MINUTES = 10
const STOP_MS = 120_000

console.log(
  `Seed ${seed}, ${values.minutes} minutes, ${hasKey ? 'with a key' : 'plain'}, in ${folder}`,
)
const model = new SharedModel()
const server = await startServer()
const database = await createDatabase(server.url)
const urlOf = (name: string) => database.urlWith({ parameters: { application_name: name } })
const remote = await openRemote({
  url: urlOf(KEEPER),
  key: key === null ? undefined : Buffer.from(key, 'hex'),
})
await remote.init()
await startAudit(database)
const keeper = await openStore({ home: join(folder, 'keeper') })
await keeper.remotes.add('remote', {
  url: urlOf(`${KEEPER}-store`),
  ...(key === null ? { plain: true } : { keyFile }),
})

const path = join(folder, 'record')
const record = followRecord(path)
/** How many entries each process has written. */
const entries = new Map<string, number>()

function readRecord(): void {
  for (const entry of record.read()) {
    entries.set(entry.process, (entries.get(entry.process) ?? 0) + 1)
    model.hear(entry)
  }
}

type Host = {
  readonly proxy: TcpProxy
  readonly home: string
  readonly clockOffsetMs: number
  /** By slot. */
  readonly children: Map<string, ChildProcess>
  readonly processes: () => readonly { readonly child: ChildProcess; readonly entries: number }[]
}

const hosts: Host[] = []
let isStopping = false
for (let n = 0; n < Number(values.hosts); n += 1) {
  const children = new Map<string, ChildProcess>()
  const host: Host = {
    proxy: await startProxy(server),
    home: join(folder, `host-${n}`),
    clockOffsetMs: (random.below(2 * CLOCK_MINUTES) - CLOCK_MINUTES) * 60_000,
    children,
    processes: () =>
      [...children].map(([slot, child]) => ({
        child,
        entries: entries.get(`${slot}-${child.pid}`) ?? 0,
      })),
  }
  hosts.push(host)
  for (let m = 0; m < Number(values.processes); m += 1) start(host, `host${n}.${m}`)
}

/** Starts the next process in this slot when one ends. */
function start(host: Host, slot: string): void {
  const assignment: HostAssignment = {
    sdk,
    slot,
    home: host.home,
    folder: join(folder, `work-${slot}`),
    record: path,
    remote: database.urlWith({ port: host.proxy.port }),
    key,
    sessions,
    seed: random.below(2 ** 31),
    clockOffsetMs: host.clockOffsetMs,
  }
  const child = fork(program, [JSON.stringify(assignment)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  host.children.set(slot, child)
  child.on('exit', (code, signal) => {
    if (isStopping) return
    if (signal === null)
      model.fault(`the process ${slot}-${child.pid} ended by itself with ${code}`)
    start(host, slot)
  })
}

const faults = new Faults({
  random,
  hosts,
  server,
  database,
  sessions,
  remote,
  store: keeper,
  report: (fault) => model.fault(fault),
})

function isEnough(): boolean {
  if (values.saves === undefined && values.kills === undefined) return false
  return (
    model.acknowledged.length >= Number(values.saves ?? 0) &&
    faults.counts.kill >= Number(values.kills ?? 0) &&
    faults.isComplete
  )
}

while (Date.now() < until && model.faults.length === 0 && !isEnough()) {
  await sleep(faults.isComplete ? 100 + random.below(400) : random.below(200))
  readRecord()
  // The first ones must meet processes that work.
  if (model.acknowledged.length > 0) await faults.causeOne()
}
const isTooSlow = (values.saves ?? values.kills) !== undefined && !isEnough()
if (isTooSlow && model.faults.length === 0)
  model.fault(`the counts were not reached in ${values.minutes} minutes`)
await faults.end()
await stopAll()
readRecord()

/** They finish their unit of work. */
async function stopAll(): Promise<void> {
  isStopping = true
  const children = hosts.flatMap((host) => [...host.children.values()])
  const running = children.filter((child) => child.exitCode === null && child.signalCode === null)
  await Promise.all(
    running.map(async (child) => {
      const timer = setTimeout(() => {
        model.fault(`process ${child.pid} did not end within ${STOP_MS / 1000} s`)
        child.kill('SIGKILL')
      }, STOP_MS)
      const ended = once(child, 'exit')
      if (child.connected) child.send('stop')
      await ended
      clearTimeout(timer)
    }),
  )
}

const sharing = (name: string) => ({ url: urlOf(name), ...(key === null ? {} : { key }) })
let found: object = {}
try {
  found = await checkAll()
} catch (error) {
  model.fault(`the check ended with ${error instanceof Error ? error.stack : String(error)}`)
}

async function checkAll(): Promise<object> {
  for (const [n, host] of hosts.entries()) await sendRest(host, `last-${n}`)
  for (const violation of await findViolations(database)) model.fault(violation)
  for (const { session, id, process: by } of await removedCheckpoints(database))
    if (!model.pruned.has(id)) model.fault(`${by} removed ${id} of ${session} on the remote`)
  const { problems } = await keeper.remotes.verify()
  for (const problem of problems) model.fault(`verify: ${JSON.stringify(problem)}`)
  const audit = await countAudit(database)
  const into = join(folder, 'fresh')
  mkdirSync(into)
  const store = await openStore({ home: join(into, 'home'), remote: sharing('fresh') })
  const ids = await sessionIds(database)
  const checked = await checkSessions(store, model, { sessions: ids, folder: into })
  await store.close()
  return { ...audit, ...checked }
}

/** Sends everything that the host could not share. A killed process of this machine holds no lease, and one that has ended has released its own. */
async function sendRest({ home, clockOffsetMs }: Host, name: string): Promise<void> {
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + clockOffsetMs }
  const store = await openStore({ home, clock, remote: sharing(name) })
  const sent = new Set<string>()
  for (;;) {
    // A session of this host may become a fork, which is sent too.
    const next = (await store.sessions()).find(({ id }) => !sent.has(id))
    if (next === undefined) break
    sent.add(next.id)
    const { session } = await store.resume(next.id)
    await session.close()
  }
  await store.close()
}

await keeper.close()
await remote.close()
record.close()
for (const { proxy } of hosts) await proxy.dispose()
await server.dispose()

const { acknowledged, kept, runs, returns, pruned } = model
const counts = {
  saves: acknowledged.length,
  kept: kept.length,
  toolRuns: runs,
  toolReturns: returns,
}
console.log([...model.counts].map(([what, count]) => `${what} ${count}`).join(', '))
console.log(
  `Counts ${JSON.stringify({ ...counts, pruned: pruned.size, ...faults.counts, ...found })}`,
)
for (const fault of model.faults.slice(0, 20)) console.log(`FAULT ${fault}`)
if (model.faults.length === 0) {
  console.log('Nothing acknowledged is missing or different.')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
} else {
  const again = `--seed ${seed} --${hasKey ? 'key' : 'plain'}`
  console.log(
    `${model.faults.length} faults. Again with: npm run torture:shared -- ${again}; the stores are in ${folder}`,
  )
}
process.exitCode = model.faults.length === 0 ? 0 : 1
