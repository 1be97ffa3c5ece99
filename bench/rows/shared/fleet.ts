/** Sixteen processes, each with a session of its own on one server; and what a remote costs a save that does not wait for it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestDatabase } from '../../../test/support/postgres/index.js'
import { type Bench, OURS } from '../../bench.js'
import { type Child, startChild } from '../../child-process.js'
import { withDaemon } from '../../daemon.js'
import { figureOf, median, type Medians } from '../../measure.js'
import { postgresPeers, requirePeers } from '../../peers/installed-peers.js'
import { run } from '../../programs.js'
import type { Row } from '../../row.js'
import { emptyDatabase, remoteDatabase } from './server.js'
import { cliPath, openStore } from '../../sdk.js'
import { conversationOf } from '../../states/conversation.js'
import type { WriterName } from '../../states/state-writers.js'

const PROCESSES = 16
const STEPS = 100
/** As many saves per second as three times the peer's: a third of its time. */
const FLEET_LIMIT = 1 / 3
const BEHIND_LIMIT = 1.15

export const fleet: Row = {
  name: `fleet-${PROCESSES}`,
  slow: true,
  async measure(bench) {
    const packages = requirePeers(await postgresPeers(bench))
    const ours = await remoteDatabase(bench)
    const peer = await emptyDatabase(bench)
    const oursMs = await msPerSave(bench, { writer: 'append', remote: ours.url })
    const peerMs = await msPerSave(bench, { writer: 'PostgresSaver', remote: peer.url, packages })
    const perSecond = (ms: number) => Math.round(1000 / ms)
    return {
      ours: oursMs,
      peer: peerMs,
      limit: FLEET_LIMIT,
      unit: 'ms',
      detail: `time per save of all together, steps 100 to 200; ${perSecond(oursMs)} and ${perSecond(peerMs)} saves per second`,
    }
  },
}

async function msPerSave(
  bench: Bench,
  {
    writer,
    ...shared
  }: { readonly writer: WriterName; readonly remote: string; readonly packages?: string },
): Promise<number> {
  bench.log(`${PROCESSES} processes: ${writer}`)
  const children: Child[] = []
  try {
    while (children.length < PROCESSES) {
      const child = startChild()
      children.push(child)
      const place = {
        ...shared,
        folder: bench.scratch.folder('fleet'),
        session: `s${children.length}`,
      }
      await child.ask({ kind: 'begin-writing', writer, place, after: 0 })
      await child.ask({ kind: 'steps', steps: STEPS })
    }
    const start = performance.now()
    await Promise.all(children.map((child) => child.ask({ kind: 'steps', steps: STEPS })))
    const ms = performance.now() - start
    for (const child of children) await child.ask({ kind: 'end-writing' })
    return ms / (PROCESSES * STEPS)
  } finally {
    for (const child of children) await child.end()
  }
}

export const behindAppend: Row = {
  name: 'behind-append-3000',
  async measure(bench) {
    const { medians, pushes } = await appendsBehind(bench)
    return {
      ours: figureOf(medians, OURS),
      peer: figureOf(medians, ALONE),
      limit: BEHIND_LIMIT,
      unit: 'ms',
      detail: `append while the daemon pushes (${pushes} times), against a session without a remote; p50`,
    }
  },
}

const ALONE = 'without a remote'
const BEFORE = 2900
const MEASURED = 200
/** An agent does something else between two steps, and the daemon pushes half a second after an agent has ended. */
const PAUSE_MS = 20
const STEPS_PER_PUSH = 20
const MIN_PUSHES = 3

type Behind = { readonly medians: Medians; readonly pushes: number }

/** In turns, so that the state of the disk, and the processes that push, affect both. */
async function appendsBehind(bench: Bench): Promise<Behind> {
  const remote = await remoteDatabase(bench)
  const begin = async (isShared: boolean) => {
    const home = bench.scratch.folder('behind')
    const store = await openStore(home)
    const session = await store.session('behind')
    await session.save({ state: conversationOf(BEFORE) })
    if (isShared) {
      await store.remotes.add('bench', { url: remote.url, plain: true, autoPush: true })
      await pushAll(home)
    }
    return { home, store, session, times: [] as number[] }
  }
  const pushed = await begin(true)
  const alone = await begin(false)
  const project = bench.scratch.folder('behind-project')
  writeFileSync(join(project, 'package.json'), '{}\n')
  const before = await countSegments(remote)
  await withDaemon(pushed.home, async (daemon) => {
    for (let step = 0; step < MEASURED; step += 1) {
      const { messages } = conversationOf(1, { after: BEFORE + step })
      for (const each of step % 2 === 0 ? [pushed, alone] : [alone, pushed]) {
        await sleep(PAUSE_MS)
        const start = performance.now()
        await each.session.append('messages', messages)
        each.times.push(performance.now() - start)
      }
      if (step % STEPS_PER_PUSH === 0) await daemon.endSession(project)
    }
  })
  for (const { store } of [pushed, alone]) await store.close()
  const pushes = (await countSegments(remote)) - before
  if (pushes < MIN_PUSHES) throw new Error(`The daemon pushed ${pushes} times`)
  const medians = new Map([
    [OURS, median(pushed.times)],
    [ALONE, median(alone.times)],
  ])
  return { medians, pushes }
}

/** As a user: the daemon pushes only what was pushed once by hand. */
async function pushAll(home: string): Promise<void> {
  const environment = { SAVESTATE_HOME: home }
  await run({ program: process.execPath, args: [cliPath, 'push', '--all'], cwd: '/', environment })
}

async function countSegments({ sql }: Pick<TestDatabase, 'sql'>): Promise<number> {
  const [row] = await sql('SELECT count(*)::int AS count FROM savestate.segments')
  return Number(row?.['count'])
}
