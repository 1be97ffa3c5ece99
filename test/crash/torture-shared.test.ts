// A short run of the torture program for shared sessions. `npm run torture:shared` runs longer.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openRemote } from '../../src/remote/index.js'
import { ownIdentity } from '../../src/system/index.js'
import { findViolations, startAudit } from '../../torture/shared/audit.js'
import { createDatabase } from '../support/postgres/index.js'
import { isLong } from '../support/test-budget.js'

const PROGRAM = fileURLToPath(new URL('../../build/torture/shared.js', import.meta.url))
/** The program runs until it has reached these, so a busy machine takes longer and tests as much. */
const [SAVES, KILLS] = isLong ? [800, 80] : [40, 6]
/** The run ends when each of these has happened. */
const FAULTS =
  'longStall lostAnswer halfOpen cut stall stop expiry compaction maintenance pause kill'.split(' ')
const MAX_MINUTES = isLong ? 20 : 6
const CHECK_MINUTES = 5

test(
  'hosts that are killed and cut off lose nothing that was acknowledged',
  async () => {
    const args = ['--saves', SAVES, '--kills', KILLS, '--minutes', MAX_MINUTES].map(String)
    const child = spawn(process.execPath, [PROGRAM, ...args])
    const output: string[] = []
    child.stdout.on('data', (text) => output.push(String(text)))
    child.stderr.on('data', (text) => output.push(String(text)))
    const [code] = (await once(child, 'close')) as [number | null]
    const text = output.join('')
    // The output contains the seed, so that a failure can be repeated.
    expect({ code, text }).toEqual({
      code: 0,
      text: expect.stringContaining('Nothing acknowledged is missing or different.'),
    })
    const counts = JSON.parse(/^Counts (.*)$/m.exec(text)?.[1] ?? '{}') as Record<string, number>
    expect(FAULTS.filter((fault) => (counts[fault] ?? 0) === 0)).toEqual([])
    const { saves = 0, kill = 0, checkpoints = 0, pruned = 0 } = counts
    expect(saves).toBeGreaterThanOrEqual(SAVES)
    expect(kill).toBeGreaterThanOrEqual(KILLS)
    // The final check has read all of them.
    expect(checkpoints).toBeGreaterThanOrEqual(saves - pruned)
  },
  (MAX_MINUTES + CHECK_MINUTES) * 60_000,
)

test('the audit finds a fence of two holders, and one that did not grow', async () => {
  await using database = await createDatabase()
  const remote = await openRemote({ url: database.url })
  await remote.init()
  await startAudit(database)
  const holder = { owner: ownIdentity(), sinceMs: 0 }
  const create = { agent: null, project: null }
  const log = { kind: 'session', id: 'one' } as const
  const { head } = await remote.take({ log, holder, leaseMs: 60_000, create })
  const fence = head?.fence ?? 0
  expect(await findViolations(database)).toEqual([])
  const violation = (bad: number) =>
    `a fence that was given twice, or did not grow: {"log":"1","fence":"${bad}"}`
  await database.sql(`UPDATE savestate.live SET holder = 'another'`)
  expect(await findViolations(database)).toEqual([violation(fence)])
  await database.sql(`UPDATE savestate.live SET fence = fence - 1`)
  expect(await findViolations(database)).toEqual([violation(fence - 1), violation(fence)])
  await remote.close()
})
