import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, test, vi } from 'vitest'
import { readLockOwner, takeLock } from '../../../src/system/locks/lock.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-lock-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let count = 0
const newPath = () => join(root, `lock-${++count}`)

/** Another process that takes the same lock and holds it until it is killed. */
async function holderOf(path: string): Promise<ChildProcess> {
  // Like takeLock, but with the driver alone: this process shares no code with us.
  const script = `
    import { DatabaseSync } from '@photostructure/sqlite'
    import { writeFileSync } from 'node:fs'
    const database = new DatabaseSync(process.argv[1])
    database.exec('BEGIN EXCLUSIVE')
    writeFileSync(process.argv[1] + '.owner', process.pid + '\\n2026-01-01T00:00:00.000Z\\nrewind\\n')
    process.stdout.write('held')
    setInterval(() => database.isOpen, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

test('a lock is held by one at a time within a process', async () => {
  const path = newPath()
  const first = await takeLock(path, { waitMs: 0, purpose: 'save' })
  expect(first).toBeDefined()
  expect(await takeLock(path, { waitMs: 0, purpose: 'save' })).toBeUndefined()
  first?.release()
  const second = await takeLock(path, { waitMs: 0, purpose: 'save' })
  expect(second).toBeDefined()
  second?.release()
})

test('setting the clock back or forward does not change how long a process waits', async () => {
  const path = newPath()
  const first = await takeLock(path, { waitMs: 0, purpose: 'save' })
  const now = vi.spyOn(Date, 'now')
  try {
    now.mockImplementation(() => 0)
    expect(await takeLock(path, { waitMs: 20, purpose: 'rewind' })).toBeUndefined()
    let ms = 0
    now.mockImplementation(() => (ms += 3_600_000))
    const waiting = takeLock(path, { waitMs: 10_000, purpose: 'rewind' })
    setTimeout(() => first?.release(), 60)
    const second = await waiting
    expect(second).toBeDefined()
    second?.release()
  } finally {
    now.mockRestore()
  }
})

test('a waiting caller gets the lock when it is released', async () => {
  const path = newPath()
  const first = await takeLock(path, { waitMs: 0, purpose: 'save' })
  const waiting = takeLock(path, { waitMs: 10_000, purpose: 'rewind' })
  setTimeout(() => first?.release(), 60)
  const second = await waiting
  expect(second).toBeDefined()
  expect(await readLockOwner(path)).toMatchObject({ pid: process.pid, purpose: 'rewind' })
  second?.release()
})

test('many concurrent callers get the lock one after another', async () => {
  const path = newPath()
  let inside = 0
  let most = 0
  const turns = Array.from({ length: 12 }, async () => {
    const lock = await takeLock(path, { waitMs: 20_000, purpose: 'save' })
    inside += 1
    most = Math.max(most, inside)
    await new Promise((resolve) => setTimeout(resolve, 3))
    inside -= 1
    lock?.release()
    return lock !== undefined
  })
  expect(await Promise.all(turns)).toEqual(Array(12).fill(true))
  expect(most).toBe(1)
})

test('a lock excludes other processes, names its owner, and ends with its owner', async () => {
  const path = newPath()
  const holder = await holderOf(path)
  const startedAt = Date.now()
  expect(await takeLock(path, { waitMs: 150, purpose: 'save' })).toBeUndefined()
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(150)
  expect(await readLockOwner(path)).toEqual({
    pid: holder.pid,
    since: '2026-01-01T00:00:00.000Z',
    purpose: 'rewind',
  })
  const waiting = takeLock(path, { waitMs: 10_000, purpose: 'save' })
  holder.kill('SIGKILL')
  const lock = await waiting
  expect(lock).toBeDefined()
  lock?.release()
})

/** Whether another process can take the lock now. */
function canBeTakenElsewhere(path: string): boolean {
  const script = `
    import { DatabaseSync } from '@photostructure/sqlite'
    const database = new DatabaseSync(process.argv[1], { timeout: 0 })
    try { database.exec('BEGIN EXCLUSIVE'); process.stdout.write('taken') }
    catch (error) { if ((error.errcode & 0xff) !== 5) throw error }`
  const args = ['--input-type=module', '--eval', script, path]
  return execFileSync(process.execPath, args).toString() === 'taken'
}

test('a second attempt in this process does not lose the lock to another process', async () => {
  // Closing any descriptor of a file drops all locks of the process on it (POSIX).
  const path = newPath()
  const first = await takeLock(path, { waitMs: 0, purpose: 'save' })
  expect(canBeTakenElsewhere(path)).toBe(false)
  expect(await takeLock(path, { waitMs: 20, purpose: 'save' })).toBeUndefined()
  expect(canBeTakenElsewhere(path)).toBe(false)
  first?.release()
  expect(canBeTakenElsewhere(path)).toBe(true)
})

test('a lock stays taken if its owner keeps no reference to it', async () => {
  // The driver closes an unreachable connection, which would drop its lock.
  const path = newPath()
  await (async () => {
    await takeLock(path, { waitMs: 0, purpose: 'save' })
  })()
  setFlagsFromString('--expose-gc')
  const collectGarbage: unknown = runInNewContext('gc')
  for (let n = 0; n < 5; n += 1) {
    if (typeof collectGarbage === 'function') collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(canBeTakenElsewhere(path)).toBe(false)
})

test('waiting does not block the event loop', async () => {
  const path = newPath()
  const first = await takeLock(path, { waitMs: 0, purpose: 'save' })
  let ticks = 0
  // A blocking wait would end before the first tick, without the lock.
  const timer = setInterval(() => {
    ticks += 1
    if (ticks === 10) first?.release()
  }, 5)
  const second = await takeLock(path, { waitMs: 60_000, purpose: 'save' })
  clearInterval(timer)
  expect([second === undefined, ticks >= 10]).toEqual([false, true])
  second?.release()
})

test('the owner is unknown before the first lock, and private after it', async () => {
  const path = newPath()
  expect(await readLockOwner(path)).toBeUndefined()
  const before = Date.now()
  const lock = await takeLock(path, { waitMs: 0, purpose: 'diff' })
  const owner = await readLockOwner(path)
  expect(owner).toMatchObject({ pid: process.pid, purpose: 'diff' })
  expect(Date.parse(owner?.since ?? '')).toBeGreaterThanOrEqual(before)
  expect(statSync(`${path}.owner`).mode & 0o077).toBe(0)
  lock?.release()
})

test('a missing folder is an error, not a taken lock', async () => {
  await expect(
    takeLock(join(root, 'absent', 'lock'), { waitMs: 0, purpose: 'save' }),
  ).rejects.toThrow(/ENOENT|unable to open/)
})
