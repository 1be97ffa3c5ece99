// A worker is killed at every step of sharing, and another host continues: nothing that was acknowledged is missing, every effect happens
// once, and the files are those of the state.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Host, sharedPlace } from '../../support/sharing/fleet.js'
import { smallDisk } from '../../support/small-disk.js'
import { RESUME_POINTS, SHIP_POINTS, SPLIT_POINTS } from './share-failpoints.js'

const WORKER = fileURLToPath(new URL('../../support/sharing/worker.mjs', import.meta.url))
const STEPS = 4
const place = sharedPlace()

type Run = {
  readonly failpoint?: string
  readonly into?: string
  readonly told: string
  readonly effects: string
}

/** Returns the signal that killed it. */
function work(host: Host, { failpoint, into, told, effects }: Run): string | null {
  const { home, project } = host
  const request = { home, remote: place().url, project, into, told, effects, steps: STEPS }
  const { signal, status, stderr } = spawnSync(
    process.execPath,
    [WORKER, JSON.stringify(request)],
    {
      encoding: 'utf8',
      env: { ...process.env, ...(failpoint && { SAVESTATE_FAILPOINT: failpoint }) },
    },
  )
  if (signal === null && status !== 0) throw new Error(stderr)
  return signal
}

const linesOf = (path: string) =>
  existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []

/** The state that the acknowledged calls led to, at least. */
async function expectNothingLost(host: Host, told: readonly string[]): Promise<void> {
  const store = await host.openShared()
  const { session, state, inFlight } = await store.resume<{ n: number; log: number[] }>('task')
  const lastOf = (word: string) =>
    Math.max(
      -1,
      ...told.filter((line) => line.startsWith(word)).map((line) => Number(line.split(' ')[1])),
    )
  expect(state?.n ?? -1).toBeGreaterThanOrEqual(lastOf('save'))
  const isAppended = lastOf('append') === state?.n
  expect(state?.log ?? []).toEqual(isAppended ? [state?.n] : (state?.log ?? []))
  const open = new Set(inFlight.map(({ id }) => id))
  for (let n = 0; n <= lastOf('tool'); n++) {
    expect(open.has(`call-${n}`)).toBe(false)
    const known = await session.tool(
      { id: `call-${n}`, name: 'effect', args: { n } },
      () => 'ran again',
    )
    expect(known).toBe(n)
  }
  await store.close()
}

function expectFinished(host: Host, { told, effects }: Pick<Run, 'told' | 'effects'>): void {
  expect(linesOf(told).at(-1)).toBe('done')
  expect(linesOf(effects)).toEqual(Array.from({ length: STEPS }, (_, n) => `call-${n}`))
  expect(readFileSync(join(host.project, 'data.txt'), 'utf8')).toBe(`step ${STEPS - 1}`)
}

/** Killed before the remote had the step, but after the session was begun. */
function isUnsent(failpoint: string): boolean {
  return /:(?:packed|encoded|uploaded)@(?!1$)/.test(failpoint)
}

const ships = Object.entries(SHIP_POINTS).flatMap(([name, visits]) =>
  visits.map((n) => `${name}@${n}`),
)

test.for(ships)('killed at %s, the work continues on another host', async (failpoint) => {
  await using a = await place().host()
  await using b = await place().host()
  const files = { told: join(a.folder, 'told'), effects: join(a.folder, 'effects') }
  writeFileSync(files.told, '')
  expect(work(a, { ...files, failpoint })).toBe('SIGKILL')
  // Nothing was shared yet if it was killed within the first call.
  if (linesOf(files.told).includes('up')) await expectNothingLost(b, linesOf(files.told))
  expect(work(b, { ...files, into: b.project })).toBe(null)
  expectFinished(b, files)
  expect(b.snapshotOf().get('big.bin')).toBeDefined()
  // The first host has what the other one did; what it had not shared is not lost.
  const store = await a.openShared()
  const { state, info } = await store.resume('task')
  expect({ state, status: info.status }).toEqual({
    state: { n: STEPS - 1, log: [STEPS - 1] },
    status: 'completed',
  })
  const forks = (await store.sessions()).filter(({ id }) => id !== 'task').map(({ id }) => id)
  expect(forks.map((id) => id.replace(/~.*$/, '~'))).toEqual(isUnsent(failpoint) ? ['task~'] : [])
  await store.close()
  await place().database.sql('TRUNCATE savestate.logs CASCADE')
})

test.for(Object.keys(RESUME_POINTS))(
  'killed at %s, the next resume finishes',
  async (failpoint) => {
    await using a = await place().host()
    await using b = await place().host()
    const files = { told: join(a.folder, 'told'), effects: join(a.folder, 'effects') }
    expect(work(a, files)).toBe(null)
    expect(work(b, { ...files, failpoint, into: b.project })).toBe('SIGKILL')
    expect(work(b, { ...files, into: b.project })).toBe(null)
    expect(b.snapshotOf()).toEqual(a.snapshotOf())
    await place().database.sql('TRUNCATE savestate.logs CASCADE')
  },
)

test.for(Object.keys(SPLIT_POINTS))(
  'killed at %s while its steps become a fork, the next resume finishes it and shares it',
  async (failpoint) => {
    await using a = await place().host()
    await using b = await place().host()
    const files = { told: join(a.folder, 'told'), effects: join(a.folder, 'effects') }
    expect(work(a, { ...files, failpoint: 'share:encoded@9' })).toBe('SIGKILL')
    const alone = await a.open({ remote: false })
    const { state: unsent } = await alone.resume('task')
    await alone.close()
    expect(work(b, { ...files, into: b.project })).toBe(null)
    expect(work(a, { ...files, failpoint })).toBe('SIGKILL')
    const first = await a.openShared()
    const resumed = await first.resume('task')
    expect(resumed.state).toEqual({ n: STEPS - 1, log: [STEPS - 1] })
    expect(resumed.notices).toEqual([expect.stringContaining('task~') as unknown])
    await first.close()
    const heads = await (await place().remote()).heads({ kind: 'session' })
    const forks = heads.map(({ log }) => log.id).filter((id) => id !== 'task')
    expect(forks).toEqual([expect.stringMatching(/^task~/)])
    const second = await b.openShared()
    expect((await second.resume(String(forks[0]))).state).toEqual(unsent)
    await second.close()
    await place().database.sql('TRUNCATE savestate.logs CASCADE')
  },
)

test('a full disk on one host loses nothing that was acknowledged, and another host continues', async () => {
  await using a = await place().host()
  await using b = await place().host()
  using disk = await smallDisk(join(a.folder, 'disk'), 60)
  const files = { told: join(a.folder, 'told'), effects: join(a.folder, 'effects') }
  const request = (folder: string) =>
    JSON.stringify({
      ...files,
      home: join(folder, 'home'),
      project: a.project,
      remote: place().url,
      steps: STEPS,
    })
  // It has room for the store and for the first steps.
  const { code, stderr } = disk.run([WORKER, request(disk.path)], { env: {}, freeBytes: 700_000 })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('DISK_FULL') })
  await expectNothingLost(b, linesOf(files.told))
  expect(work(b, { ...files, into: b.project })).toBe(null)
  expectFinished(b, files)
  await place().database.sql('TRUNCATE savestate.logs CASCADE')
})
