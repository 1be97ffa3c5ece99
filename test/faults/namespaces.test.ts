// A sandbox or container may keep the host name and have its own process ids: processes outside seem dead inside it.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../support/scratch.js'
import { watchedAndNot } from '../snapshot/watch/watch-helpers.js'

const INDEX = new URL('../../dist/index.js', import.meta.url).href
const WAYS = ['', '--user --map-root-user'].map((user) =>
  `unshare ${user} --pid --fork --mount-proc`.split(/ +/),
)
const way = WAYS.find(
  ([program = '', ...args]) => spawnSync(program, [...args, 'true']).status === 0,
)
const where = way === undefined ? 'another process, as unshare does not work here' : 'unshare --pid'

test(`leases and watches of a live process count, as seen from ${where}`, async () => {
  await using s = await scratch({ files: { a: '1' } })
  await using pair = await watchedAndNot(s)
  const session = await pair.store.session('task', { agent: 'outside' })
  await session.save({ state: { n: 1 } })
  const folders = readdirSync(join(s.home, 'watches'))
  expect(folders).toHaveLength(1)

  const script = `
    const { openStore } = await import(${JSON.stringify(INDEX)})
    const store = await openStore({ home: ${JSON.stringify(s.home)} })
    const taken = await store.session('task').then(() => 'taken', ({ code }) => code)
    const { watches } = await store.status()
    await store.close()
    process.stdout.write(JSON.stringify([taken, watches.map(({ pid }) => pid)]))`
  const command = [...(way ?? []), process.execPath, '--input-type=module', '--eval', script]
  const { stdout, stderr } = spawnSync(command[0] ?? '', command.slice(1), { encoding: 'utf8' })
  expect([stderr, JSON.parse(stdout)]).toEqual(['', ['SESSION_BUSY', [process.pid]]])

  expect(readdirSync(join(s.home, 'watches'))).toEqual(folders)
  await session.save({ state: { n: 2 } })
  expect(await session.stateAt()).toEqual({ n: 2 })
})
