// A rewind of files and state during a save of the same session: both are restored or neither (docs/internals/sessions.md).
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { type Scratch, scratchWithThreads as scratch } from '../../support/scratch.js'

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  )

/** A session with many files, so that a rewind takes some time. */
async function withManyFiles(s: Scratch) {
  const many = (text: string) =>
    Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}.txt`, `${text} ${n}`]))
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('task', { project })
  s.write(many('old'))
  const point = await session.save({ state: { v: 'old' }, files: true })
  s.write(many('mid'))
  await session.save({ state: { v: 'mid' }, files: true })
  const fileNow = () => readFileSync(join(s.project, 'f299.txt'), 'utf8')
  return { store, project, session, point, fileNow }
}

test('if the session saves while a rewind of both waits for confirmation, the rewind asks again', async () => {
  await using s = await scratch()
  const { session, project, point, fileNow } = await withManyFiles(s)
  const asking = () => {
    let isAgain = false
    return async () => {
      if (isAgain) return false
      isAgain = true
      await session.save({ state: { v: 'new' } })
      return true
    }
  }
  const declined = { applied: false, declined: true }
  const before = s.hashTree(s.project)
  expect(await session.rewind(point.id, { restore: 'both', confirm: asking() })).toMatchObject(
    declined,
  )
  expect(s.hashTree(s.project)).toEqual(before)
  expect(await session.stateAt()).toEqual({ v: 'new' })
  await session.rewind(point.id, { restore: 'both' })
  expect([fileNow(), await session.stateAt()]).toEqual(['old 299', { v: 'old' }])
  const notices: string[] = []
  const onWarning = (text: string) => notices.push(text)
  expect(await project.undo({ confirm: asking(), onWarning })).toMatchObject(declined)
  // Only in the second plan the session has continued.
  expect(notices).toEqual([expect.stringContaining('"task" has continued since')])
  expect([fileNow(), await session.stateAt()]).toEqual(['old 299', { v: 'new' }])
})

test('a rewind of both during a save restores both or neither', async () => {
  await using s = await scratch()
  const { store, session, point, fileNow } = await withManyFiles(s)
  // For an instant there is neither the old nor the new file.
  const isOld = () => {
    try {
      return fileNow() === 'old 299'
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
  }
  const saved = async () => {
    while (!isOld()) await new Promise(setImmediate)
    return session.save({ state: { v: 'new' } })
  }
  const [rewind] = await Promise.all([
    codeOf(session.rewind(point.id, { restore: 'both' })),
    saved(),
  ])
  const kinds = (await session.list()).map(({ kind }) => kind)
  // Usually the save comes before the row of the rewind; then the rewind rolls back the files.
  expect([
    ['HEAD_MOVED', 'mid 299', ['save', 'save', 'save']],
    ['none', 'old 299', ['save', 'rewind', 'save', 'save']],
  ]).toContainEqual([rewind, fileNow(), kinds])
  expect(await session.stateAt()).toEqual({ v: 'new' })
  const { problems } = await store.verify()
  expect(problems.filter(({ severity }) => severity === 'damage')).toEqual([])
})

test('an interrupted rewind of both is rolled back if the session has continued', async () => {
  await using s = await scratch()
  const { store, session } = await withManyFiles(s)
  await session.close()
  await store.close()
  const body = `const session = await store.session('task'); await session.rewind('2', { restore: 'both' })`
  const env = { SAVESTATE_FAILPOINT: 'restore:applied' }
  await expect(inChild(s, body, { env })).rejects.toMatchObject({ signal: 'SIGKILL' })
  const again = await (await s.open()).session('task')
  await again.save({ state: { v: 'new' } })
  await again.save({ files: true })
  expect(readFileSync(join(s.project, 'f299.txt'), 'utf8')).toBe('mid 299')
  expect(await again.stateAt()).toEqual({ v: 'new' })
})

/** Starts a process that opens the session and adds to its state on request. It returns the states it found before and after. */
function holder(s: Scratch) {
  const body = `
    const session = await store.session('task')
    const found = await session.stateAt()
    fs.writeFileSync(path.join(scratch.folder, 'held'), '')
    const isToWait = () => fs.existsSync(scratch.home) && !fs.existsSync(path.join(scratch.folder, 'go'))
    while (isToWait()) await new Promise((go) => setTimeout(go, 5))
    await session.append('added', [1])
    return [found, await session.stateAt()]`
  const ended = inChild(s, body)
  return {
    async held() {
      while (!existsSync(join(s.folder, 'held'))) await sleep(5)
    },
    async goOn() {
      s.write({ go: '' }, s.folder)
      return ended
    },
  }
}

test('a process that opens the session while an undo of both waits for confirmation keeps its state', async () => {
  await using s = await scratch()
  const { session, project, point, fileNow } = await withManyFiles(s)
  await session.rewind(point.id, { restore: 'both' })
  await session.close()
  const other = holder(s)
  const confirm = async () => {
    await other.held()
    return true
  }
  const before = s.hashTree(s.project)
  expect(await codeOf(project.undo({ confirm }))).toBe('SESSION_BUSY')
  expect(s.hashTree(s.project)).toEqual(before)
  expect(await other.goOn()).toEqual([{ v: 'old' }, { v: 'old', added: [1] }])
  expect(await codeOf(project.undo())).toBe('none')
  expect(fileNow()).toBe('mid 299')
})

test('an interrupted rewind of both is rolled back if another process has opened the session', async () => {
  await using s = await scratch()
  const { store, session, fileNow } = await withManyFiles(s)
  await session.close()
  await store.close()
  const body = `const session = await store.session('task'); await session.rewind('2', { restore: 'both' })`
  const env = { SAVESTATE_FAILPOINT: 'restore:applied' }
  await expect(inChild(s, body, { env })).rejects.toMatchObject({ signal: 'SIGKILL' })
  const other = holder(s)
  await other.held()
  const again = await s.open()
  await (await again.project(s.project)).save()
  expect(fileNow()).toBe('mid 299')
  expect(await other.goOn()).toEqual([{ v: 'mid' }, { v: 'mid', added: [1] }])
})
