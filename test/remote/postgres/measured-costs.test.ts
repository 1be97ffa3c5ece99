// The figures of scripts/fleet-size.mjs, which docs/guide/operations.md gives to administrators, are what a server writes, within a
// third.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openRemote } from '../../../src/remote/index.js'
import { createDatabase, startServer } from '../../support/postgres/index.js'
import { LEASE_MS, session, startWriter } from '../../support/remote/writer.js'

const SCRIPT = fileURLToPath(new URL('../../../scripts/fleet-size.mjs', import.meta.url))
const COUNT = 400
/** About one step in ten changes files. */
const SAVES = 40
const PACK_BYTES = 6000
/** How often a session renews, in the script. */
const RENEWAL_SECONDS = 10

test('commits, packs and renewals write what fleet-size.mjs computes', async () => {
  // Its own: the others of the run write too. Nothing but the statements writes to the log; a checkpoint is far away.
  await using server = await startServer({ settings: { autovacuum: 'off' } })
  await using database = await createDatabase(server.url)
  const remote = await openRemote({ url: database.url, key: randomBytes(32) })
  await remote.init()
  const writer = await startWriter(remote, session('measured'))
  const walOf = async (work: () => Promise<void>) => {
    const [before] = await database.sql('SELECT pg_current_wal_lsn() AS lsn')
    await work()
    const [row] = await database.sql(
      'SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1)::int AS bytes',
      [before?.['lsn']],
    )
    return Number(row?.['bytes'])
  }
  let segmentBytes = 0
  let step = 0
  const commit = async (pack?: Uint8Array) => {
    const id = randomBytes(9).toString('hex')
    const prepared = writer.prepare(randomBytes(360).toString('hex'), {
      packs:
        pack === undefined
          ? []
          : [{ id, parent: null, tree: 'a'.repeat(40), project: null, bytes: pack }],
      checkpoints: [{ id, step: step++, pack: pack === undefined ? null : id }],
    })
    segmentBytes += prepared.segment.body.length
    expect(await writer.send(prepared)).toMatchObject({ kind: 'done' })
  }
  const commits = await walOf(() => repeat(COUNT, () => commit()))
  const stepKb = segmentBytes / COUNT / 1000
  const withPacks = await walOf(() => repeat(SAVES, () => commit(randomBytes(PACK_BYTES))))
  const renewals = await walOf(() =>
    repeat(COUNT, async () => expect(await remote.renew([writer.lease], LEASE_MS)).toEqual([])),
  )
  await remote.close()
  await database.sql('VACUUM')
  const sizeOf = async (name: string) => {
    // Without what a small table has too.
    const [row] = await database.sql(
      `SELECT (pg_total_relation_size(t) - pg_relation_size(t, 'fsm') - pg_relation_size(t, 'vm'))::int AS bytes
        FROM CAST($1 AS regclass) AS t`,
      [`savestate.${name}`],
    )
    return Number(row?.['bytes'])
  }

  const day = { agents: 1, tools: 0, 'step-kb': stepKb, 'save-kb': PACK_BYTES / 1000, days: 1 }
  const silent = { ...day, 'open-hours': 0 }
  const plain = computed({ ...silent, steps: COUNT, saves: 0 })
  const saving = computed({ ...silent, steps: SAVES, saves: SAVES })
  const open = { 'open-hours': (COUNT * RENEWAL_SECONDS) / 3600 }
  const renewing = computed({ ...day, ...open, steps: 0, saves: 0 })
  const both = computed({ ...silent, steps: COUNT + SAVES, saves: SAVES })
  const ratios = {
    commits: commits / plain.wal,
    withPacks: withPacks / saving.wal,
    renewals: renewals / renewing.wal,
    segments: (await sizeOf('segments')) / both.segments,
    checkpoints: (await sizeOf('checkpoints')) / both.checkpoints,
    packs: (await sizeOf('packs')) / both.packs,
  }
  const wrong = Object.entries(ratios).filter(([, ratio]) => ratio < 1 / 1.33 || ratio > 1.33)
  expect(wrong).toEqual([])
})

async function repeat(count: number, work: () => Promise<void>): Promise<void> {
  for (let n = 0; n < count; n++) await work()
}

/** The bytes that the script computes. */
function computed(inputs: Readonly<Record<string, number>>) {
  const args = Object.entries(inputs).flatMap(([name, value]) => [`--${name}`, String(value)])
  const output = execFileSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' })
  const bytesIn = (form: string) => {
    const [, number, unit = ''] = new RegExp(`^${form} ([\\d.]+) ([KM]?B)`, 'm').exec(output) ?? []
    return Number(number) * ({ B: 1, KB: 1e3, MB: 1e6 }[unit] ?? Number.NaN)
  }
  const table = (name: string) => bytesIn(`${name} .* rows,`)
  return {
    wal: bytesIn('WAL +'),
    segments: table('segments'),
    checkpoints: table('checkpoints'),
    packs: table('packs'),
  }
}
