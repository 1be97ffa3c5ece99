import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { Ledger } from '../../../src/ledger/index.js'
import { newChain, pull, pullAll, REMOTE, sessionLog, ship } from './chain.js'
import { sessionPicture } from './pictures.js'

test('smoke', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-sh-'))
  const [home, other] = [join(folder, 'a'), join(folder, 'b')]
  const store = await openStore({ home, durability: 'process', inProcess: true })
  const there = await openStore({ home: other, durability: 'process', inProcess: true })
  const a = Ledger.open(home, { durability: 'process' })
  const b = Ledger.open(other, { durability: 'process' })
  const session = await store.session('s', { agent: 'coder' })
  const log = sessionLog('s')
  a.sharing.share(log, { remote: REMOTE })
  const chain = newChain(log)
  await session.save({ state: { messages: [{ n: 0 }], step: 0 } })
  expect(ship(a, chain)).toBe(true)
  expect(ship(a, chain)).toBe(false)
  for (let n = 1; n < 100; n += 1) {
    await session.append('messages', [{ n, text: 'x'.repeat(n) }])
    if (n % 7 === 0) await session.tool({ id: `c${n}`, name: 'run', args: { n } }, () => ({ n }))
    if (n % 10 === 0) expect(ship(a, chain)).toBe(true)
    if (n === 50) expect(pull(b, chain)).toBe('applied')
  }
  await session.complete()
  expect(ship(a, chain)).toBe(true)
  expect(pull(b, chain)).toBe('applied')
  expect(sessionPicture(b, 's')).toEqual(sessionPicture(a, 's'))
  expect(pullAll(b, chain)).toBe('applied')
  expect(sessionPicture(b, 's')).toEqual(sessionPicture(a, 's'))
  expect(b.sharing.get(log)).toMatchObject({ position: chain.position, isDirty: false })
  a.close()
  b.close()
  await store.close()
  await there.close()
  rmSync(folder, { recursive: true })
})
