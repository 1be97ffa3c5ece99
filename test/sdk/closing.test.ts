// A store or session that is closed: what was called before is done, what is called after is refused in words.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openDatabase } from '../../src/system/index.js'
import { scratch, sdk } from '../support/scratch.js'

const FILES = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, `${n}\n`]))

/** Our errors by their code, others as they are. */
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) =>
      error instanceof sdk.SavestateError && error.hint !== null ? error.code : String(error),
  )

function pending(): { promise: Promise<string>; resolve: (result: string) => void } {
  let resolve: (result: string) => void = () => undefined
  const promise = new Promise<string>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

test('close waits for the calls that were made before it, and takes none after', async () => {
  await using s = await scratch({ files: FILES })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('task', { project })
  const before = [
    session.save({ state: { messages: [] }, files: true }),
    session.append('messages', [{ role: 'user', content: 'a' }]),
    session.newTurn(),
    session.tool({ id: 'quick', name: 'quick' }, () => 'ran'),
    project.save({ reason: 'mine' }),
    store.prune({ dryRun: true }),
    store.verify(),
    store.session('late'),
    session.rewind('1', { restore: 'state' }),
  ].map(codeOf)
  const closing = store.close()
  const after = [session.save({ state: {} }), project.save(), store.sessions()].map(codeOf)
  expect(await Promise.all(before)).toEqual(before.map(() => 'done'))
  expect(await Promise.all(after)).toEqual(after.map(() => 'STORE_CLOSED'))
  await closing
  const again = await s.open()
  const resumed = await again.resume('task')
  expect(resumed.state).toEqual({ messages: [{ role: 'user', content: 'a' }] })
  expect(resumed.inFlight).toEqual([])
  // Its right to write was given back, though it was opened while the store was being closed.
  await (await again.session('late')).close()
  expect((await again.verify()).problems).toEqual([])
})

test('closing does not wait for a running tool; its end is reported as not recorded, and resume lists it', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session('task')
  const { promise, resolve } = pending()
  const ending = session.tool({ id: 'slow', name: 'slow' }, () => promise)
  const failing = session.tool({ id: 'bad', name: 'bad' }, async () => {
    await promise
    throw new Error('its own')
  })
  await store.close()
  resolve('done')
  await expect(ending).rejects.toMatchObject({
    code: 'STORE_CLOSED',
    message:
      'The store was closed while the tool call "slow" was running, so its outcome was not recorded',
    hint: expect.stringContaining('resolveToolCall'),
  })
  await expect(failing).rejects.toMatchObject({
    code: 'STORE_CLOSED',
    cause: expect.objectContaining({ message: 'its own' }),
  })
  const { inFlight } = await (await s.open()).resume('task')
  expect(inFlight.map(({ id }) => id)).toEqual(['slow', 'bad'])
})

test('after close every call is refused in words, and to close again does no harm', async () => {
  await using s = await scratch({ files: FILES })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('task', { project })
  const { id } = await session.save({ state: {}, files: true })
  await store.close()
  const calls: readonly (() => Promise<unknown>)[] = [
    () => session.save({ state: {} }),
    () => session.append('messages', []),
    () => session.tool({ id: 'a', name: 'a' }, () => 1),
    () => session.step('a', () => 1),
    () => session.stateAt(),
    () => session.list(),
    () => session.inFlight(),
    () => session.rewind(id),
    () => session.complete(),
    () => session.delete(),
    () => project.save(),
    () => project.list(),
    () => project.undo(),
    () => project.internals.activity(),
    () => project.internals.unload(),
    async () => project.watch(),
    () => store.session('task'),
    () => store.resume('task'),
    () => store.fork(id, { session: 'f' }),
    () => store.deleteSession('task'),
    () => store.sessions(),
    () => store.project(s.project),
    () => store.projectFor(s.project),
    () => store.status(),
    () => store.verify(),
    () => store.note('k'),
    () => store.changeNote({ key: 'k', change: () => 'v' }),
    () => store.threads.list(),
    async () => store.isEncrypted,
  ]
  const codes: string[] = []
  for (const call of calls) codes.push(await codeOf(call()))
  expect(codes).toEqual(calls.map(() => 'STORE_CLOSED'))
  await session.close()
  await store.close()
})

test('who is asked whether to rewind may close the store', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save()
  s.write({ 'a.txt': 'two' })
  const confirm = async () => {
    await store.close()
    return false
  }
  expect(await codeOf(project.rewind(id, { confirm }))).toBe('STORE_CLOSED')
})

test('who is asked whether to rewind may close the session: it stays where it was, and so do the files', async () => {
  await using s = await scratch({ files: FILES })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session<{ n: number }>('task', { project })
  const { id } = await session.save({ state: { n: 1 }, files: true })
  s.write({ f1: 'changed\n' })
  await session.save({ state: { n: 2 }, files: true })
  const before = s.hashTree(s.project)
  const confirm = async () => {
    await session.close()
    return true
  }
  expect(await codeOf(session.rewind(id, { confirm }))).toBe('SESSION_CLOSED')
  expect(s.hashTree(s.project)).toEqual(before)
  expect((await store.resume('task')).state).toEqual({ n: 2 })
})

test('a closed session is not written to any more, but a tool that was running then is noted', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session('task')
  await session.save({ state: { messages: [] } })
  const { promise, resolve } = pending()
  const running = session.tool({ id: 'c', name: 'slow' }, () => promise)
  const saving = session.save({ reason: 'before' })
  await session.close()
  await saving
  const refused = [
    session.save({ state: {} }),
    session.append('messages', []),
    session.newTurn(),
    session.complete(),
    session.tool({ id: 'd', name: 'd' }, () => 1),
    session.rewind('1', { restore: 'state' }),
  ].map(codeOf)
  expect(await Promise.all(refused)).toEqual(refused.map(() => 'SESSION_CLOSED'))
  resolve('done')
  expect(await running).toBe('done')
  const next = await store.resume('task')
  expect(next.inFlight).toEqual([])
  expect((await next.session.list()).map(({ reason }) => reason)).toEqual(['before', null])
})

test('a heartbeat that finds the ledger locked is not the last one', async () => {
  await using s = await scratch()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    let nowMs = Date.now()
    const clock = { nowMs: () => nowMs, random: (bytes: number) => new Uint8Array(bytes) }
    const store = await s.open({ clock })
    const session = await store.session('task')
    const lost: Error[] = []
    session.on('lost', (error) => lost.push(error))
    const ledger = openDatabase(join(s.home, 'ledger.db'), { timeoutMs: 1000 })
    const leaseEnd = () =>
      ledger.get("SELECT lease_expires_at FROM sessions WHERE id = 'task'")?.['lease_expires_at']
    const first = Number(leaseEnd())
    nowMs += 10_000
    ledger.transaction(() => vi.advanceTimersByTime(10_000))
    expect([lost, leaseEnd()]).toEqual([[], first])
    nowMs += 10_000
    vi.advanceTimersByTime(10_000)
    expect([lost, leaseEnd()]).toEqual([[], first + 20_000])
    ledger.run('UPDATE sessions SET fence = fence + 1')
    vi.advanceTimersByTime(20_000)
    expect(lost).toMatchObject([{ code: 'SESSION_FENCED' }])
    ledger.close()
    await store.close()
  } finally {
    vi.useRealTimers()
  }
})

test.each([{ inProcess: true }, { inProcess: false }])(
  'a program that forgets to close the store still ends: %o',
  async ({ inProcess }) => {
    await using s = await scratch({ files: { 'a.txt': 'one' } })
    const program = `
      import { writeFileSync } from 'node:fs'
      const sdk = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)})
      const store = await sdk.openStore({ home: ${JSON.stringify(s.home)}, inProcess: ${inProcess} })
      const project = await store.project(${JSON.stringify(s.project)})
      const { id } = await project.save()
      writeFileSync(${JSON.stringify(join(s.project, 'a.txt'))}, 'two')
      await project.rewind(id)
    `
    const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
      timeout: 20_000,
    })
    expect(ended).toMatchObject({ status: 0, signal: null, stderr: '' })
    expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
  },
)
