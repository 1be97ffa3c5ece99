import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { SharedLock } from '../../../src/system/locks/shared-lock.js'

const folder = mkdtempSync(join(tmpdir(), 'savestate-shared-'))
let path = ''
beforeEach(({ task }) => {
  path = join(folder, task.id)
})
afterAll(() => rmSync(folder, { recursive: true }))

test('many can hold it at once, and then no one can take it exclusively', async () => {
  const [a, b, c] = [new SharedLock(path), new SharedLock(path), new SharedLock(path)]
  await a.shared(() =>
    b.shared(async () => {
      expect(c.alone(() => 'alone')).toBeUndefined()
    }),
  )
  expect(c.alone(() => 'alone')).toEqual({ result: 'alone' })
  for (const lock of [a, b, c]) lock.close()
})

test('several calls in one process share the lock until the last ends', async () => {
  const [lock, other] = [new SharedLock(path), new SharedLock(path)]
  const seen: unknown[] = []
  await Promise.all([
    lock.shared(async () => undefined),
    lock.shared(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      seen.push(other.alone(() => 'alone'))
    }),
  ])
  expect(seen).toEqual([undefined])
  expect(other.alone(() => 'alone')).toEqual({ result: 'alone' })
  lock.close()
})

test('an error in the work is passed on and the lock is free again', async () => {
  const lock = new SharedLock(path)
  await expect(lock.shared(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(() =>
    lock.alone(() => {
      throw new Error('neither')
    }),
  ).toThrow('neither')
  expect(lock.alone(() => 1)).toEqual({ result: 1 })
  lock.close()
})

test('a killed holder holds no lock', async () => {
  const script = `
    import { DatabaseSync } from '@photostructure/sqlite'
    const database = new DatabaseSync(${JSON.stringify(path)})
    database.exec('BEGIN'); database.prepare('SELECT count(*) FROM sqlite_schema').get()
    console.log('held')
    // Garbage collection closes the unreachable connection, which drops its lock.
    setInterval(() => database, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' })
  await once(child.stdout, 'data')
  const lock = new SharedLock(path)
  expect(lock.alone(() => 1)).toBeUndefined()
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(lock.alone(() => 1)).toEqual({ result: 1 })
})

test('closing it while it is held releases it', async () => {
  const [lock, other] = [new SharedLock(path), new SharedLock(path)]
  await lock.hold()
  expect(other.alone(() => 1)).toBeUndefined()
  lock.close()
  expect(other.alone(() => 1)).toEqual({ result: 1 })
})

/** Another process that holds the lock exclusively until it is killed. */
async function holderAlone(): Promise<ChildProcess> {
  const script = `
    import { DatabaseSync } from '@photostructure/sqlite'
    const database = new DatabaseSync(${JSON.stringify(path)})
    database.exec('BEGIN EXCLUSIVE')
    console.log('held')
    setInterval(() => database, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' })
  await once(child.stdout, 'data')
  return child
}

test('a caller that waits too long gets an error, and the lock the next time', async () => {
  const holder = await holderAlone()
  const lock = new SharedLock(path, { waitMs: 100 })
  for (const attempt of [lock.shared(async () => 1), lock.hold()])
    await expect(attempt).rejects.toMatchObject({ code: 'STORE_BUSY', hint: expect.any(String) })
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  expect(await lock.shared(async () => new SharedLock(path).alone(() => 1))).toBeUndefined()
  expect(new SharedLock(path).alone(() => 1)).toEqual({ result: 1 })
  lock.close()
})

test('waiting does not block the event loop, and ends when the lock is free', async () => {
  const holder = await holderAlone()
  const lock = new SharedLock(path, { waitMs: 60_000 })
  // Only a running event loop gets here.
  setTimeout(() => holder.kill('SIGKILL'), 50)
  expect(await Promise.all([lock.shared(async () => 1), lock.shared(async () => 2)])).toEqual([
    1, 2,
  ])
  lock.close()
})
