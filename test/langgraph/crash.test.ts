// A graph whose process is killed repeatedly still ends with the right result, and no node whose work the saver has
// confirmed runs a second time.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../support/scratch.js'
import { sharedPlace } from '../support/sharing/fleet.js'

const CHILD = fileURLToPath(new URL('./crash-graph.mjs', import.meta.url))

type Line = {
  readonly thread: string
  readonly ran?: string
  readonly confirmed?: string
  readonly finished?: unknown
}

const round = (number: number) => [
  `first${number}`,
  number === 1 ? 'ask1:yes' : `ask${number}`,
  `quick${number}`,
  `slow${number}`,
  `last${number}`,
]
const RESULT = { done: ['in', ...round(0), ...round(1), ...round(2)], round: 3 }

type Request = {
  readonly threads: readonly string[]
  readonly killAt?: number
  readonly project?: string
  readonly durability?: 'sync'
}

function argumentsFor(it: Scratch, request: Request): string[] {
  return [CHILD, JSON.stringify({ home: it.home, log: join(it.folder, 'log'), ...request })]
}

function logOf(it: Scratch): Line[] {
  const path = join(it.folder, 'log')
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Line)
}

/** Nodes that ran again after they were confirmed, and confirmed nodes that are missing from the result. */
function lostWork(lines: readonly Line[]): string[] {
  const confirmed = new Set<string>()
  return lines.flatMap(({ thread, ran, confirmed: done }) => {
    if (done !== undefined) confirmed.add(`${thread} ${done}`)
    if (done !== undefined && !RESULT.done.includes(done)) return [`${thread} ${done} is unknown`]
    return ran !== undefined && confirmed.has(`${thread} ${ran}`) ? [`${thread} ${ran}`] : []
  })
}

function finished(lines: readonly Line[]): Record<string, unknown> {
  return Object.fromEntries(
    lines.flatMap((line) => (line.finished === undefined ? [] : [[line.thread, line.finished]])),
  )
}

const THREADS = ['t0', 't1', 't2', 't3', 't4']
const ALL_FINISHED = Object.fromEntries(THREADS.map((thread) => [thread, RESULT]))

test('a graph that is killed around its writes ends with the right result in other processes', async () => {
  await using it = await scratch()
  // Each process gets further than the one before, and dies at another kind of event.
  const killedAt = [1, 2, 17, 31, 44, 58]
  for (const killAt of killedAt) {
    const { signal } = spawnSync(process.execPath, argumentsFor(it, { threads: THREADS, killAt }))
    expect(signal).toBe('SIGKILL')
  }
  expect(finished(logOf(it))).not.toEqual(ALL_FINISHED)
  const { status, stderr } = spawnSync(process.execPath, argumentsFor(it, { threads: THREADS }))
  expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' })
  const lines = logOf(it)
  expect(finished(lines)).toEqual(ALL_FINISHED)
  expect(lostWork(lines)).toEqual([])
})

test('a graph that is killed at any time from outside ends with the right result', async () => {
  await using it = await scratch()
  for (const delayMs of [0, 12, 30]) {
    const lengthBefore = logOf(it).length
    const child = spawn(process.execPath, argumentsFor(it, { threads: THREADS }), {
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // From its first sign of life on; starting takes much longer than running.
    while (logOf(it).length === lengthBefore && child.exitCode === null) await sleep(1)
    await sleep(delayMs)
    child.kill('SIGKILL')
    await ended
  }
  spawnSync(process.execPath, argumentsFor(it, { threads: THREADS }))
  const lines = logOf(it)
  expect(finished(lines)).toEqual(ALL_FINISHED)
  expect(lostWork(lines)).toEqual([])
})

test('a put that is killed between saving the folder and the graph leaves the graph unchanged', async () => {
  await using it = await scratch({ files: { 'a.txt': 'one' } })
  const given = argumentsFor(it, { threads: ['t0'], project: it.project })
  const env = { ...process.env, SAVESTATE_FAILPOINT: 'save:after-row' }
  expect(spawnSync(process.execPath, given, { env }).signal).toBe('SIGKILL')
  const store = await it.open()
  const project = await store.project(it.project)
  expect([(await project.list()).length, await store.threads.list()]).toEqual([1, []])
  spawnSync(process.execPath, given)
  expect(finished(logOf(it))).toEqual({ t0: RESULT })
})

const place = sharedPlace()

test('a graph that is killed while it is sent to a remote ends with the right result on another host', async () => {
  await using a = await scratch()
  await using b = await scratch()
  await using c = await scratch()
  // All hosts write to one log. LangGraph's default stores what a node wrote before the checkpoint that the node ran in; without the
  // checkpoint it runs again.
  const request = { threads: ['t0', 't1'], durability: 'sync' } as const
  const run = ({ home }: Scratch, failpoint = '') =>
    spawnSync(process.execPath, argumentsFor({ ...a, home }, request), {
      env: {
        ...process.env,
        SAVESTATE_REMOTE: place().url,
        ...(failpoint !== '' && { SAVESTATE_FAILPOINT: failpoint }),
      },
    })
  for (const [host, failpoint] of [
    [a, 'share:packed@2'],
    [b, 'share:encoded@7'],
    [a, 'share:sent@5'],
    [b, 'share:acked@9'],
    // The other host has committed since, so this one has something to apply.
    [a, 'share:applied@1'],
  ] as const)
    expect({ failpoint, signal: run(host, failpoint).signal }).toEqual({
      failpoint,
      signal: 'SIGKILL',
    })
  const { status, stderr } = run(c)
  expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' })
  const lines = logOf(a)
  expect(finished(lines)).toEqual({ t0: RESULT, t1: RESULT })
  expect(lostWork(lines)).toEqual([])
})
