// docs/store.md#unflushed: what a small save writes is safe in a log before it has its place, and comes back from there
// after a power cut. The cut is played by doing to the places what an unflushed file may suffer, and by a log that says
// that the machine was started anew since.
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Project, Store } from '../src/index.js'
import { type LoggedFile, logRecord, parseLog } from '../src/snapshot/unflushed/log-file.js'
import { tries } from './effort.js'
import { type Scratch, scratch, sdk } from './scratch.js'

test('every file that a small save adds to the repository stands in the log', async () => {
  await using s = await scratch({ files: { 'a/b': 'one', c: 'two' } })
  const { project } = await openDurable(s)
  const before = filesOf(s)
  await project.save()
  s.write({ 'a/b': 'three' })
  await project.save()
  const added = filesOf(s).filter((name) => !before.includes(name))
  expect(
    logged(s)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(added.toSorted())
  for (const { name, content } of logged(s))
    expect(readFileSync(join(s.home, 'objects.git', name)).equals(content)).toBe(true)
})

const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  gone: (path) => rmSync(path),
  empty: (path) => writeFileSync(path, ''),
  zeros: (path) => writeFileSync(path, Buffer.alloc(readFileSync(path).length)),
  half: (path) => writeFileSync(path, readFileSync(path).subarray(0, 20)),
  well: () => undefined,
}

test('after a power cut everything acknowledged is there, whatever became of the files', async () => {
  const edit = fc.record({ name: fc.constantFrom('a', 'b/c', 'b/d/e'), text: fc.string() })
  const cut = fc.array(fc.constantFrom(...Object.keys(DAMAGES)), { minLength: 40, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), cut, async (edits, kinds) => {
      await using s = await scratch({ files: { first: 'first' } })
      const { store, project } = await openDurable(s)
      const held = new Map([[(await project.save()).id, s.snapshotOf()]])
      for (const { name, text } of edits) {
        s.write({ [name]: text })
        held.set((await project.save()).id, s.snapshotOf())
      }
      await store.close()
      const files = logged(s)
      expect(files.length).toBeGreaterThan(0)
      cutPower(s, kinds)
      const again = await openDurable(s)
      expect((await again.store.verify()).problems).toEqual([])
      for (const [id, then] of held) {
        await again.project.rewind({ to: id })
        expect(s.snapshotOf()).toEqual(then)
      }
    }),
    { numRuns: tries(60, 4) },
  )
})

test('what a killed process has left half-written does not hide what comes after it', async () => {
  await using s = await scratch({ files: { a: 'one' } })
  const first = await openDurable(s)
  await first.project.save()
  await first.store.close()
  const [log = ''] = logsOf(s)
  appendFileSync(
    log,
    logRecord([{ name: 'refs/savestate/x/y', content: randomBytes(50) }]).subarray(0, 30),
  )
  s.write({ a: 'two' })
  const second = await openDurable(s)
  const { id } = await second.project.save()
  await second.store.close()
  cutPower(s, ['gone'])
  const third = await openDurable(s)
  s.write({ a: 'three' })
  await third.project.rewind({ to: id })
  expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('two')
})

test('two stores that are open at once write to one log of a project, in turns', async () => {
  await using s = await scratch({ files: { a: '0' } })
  const one = await openDurable(s)
  const other = await s.open({ durability: 'fsync' })
  const beside = await other.project(s.project)
  const ids: string[] = []
  for (let i = 1; i <= 6; i += 1) {
    s.write({ a: `${i}` })
    ids.push((await (i % 2 === 0 ? one.project : beside).save()).id)
    // A collection takes the log away from under both.
    if (i === 3) await one.store.prune()
  }
  await other.close()
  await one.store.close()
  expect(logsOf(s)).toHaveLength(1)
  cutPower(s, ['empty'])
  const again = await openDurable(s)
  for (const [i, id] of ids.entries()) {
    await again.project.rewind({ to: id })
    expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe(`${i + 1}`)
  }
})

test('a full log is flushed to its places, and goes', async () => {
  await using s = await scratch({ files: { a: 'one' } })
  const { store, project } = await openDurable(s)
  for (let i = 0; i < 8; i += 1) {
    s.write({ a: randomBytes(200_000) })
    await project.save()
  }
  await store.close()
  expect(logsOf(s)).toHaveLength(1)
  const sizes = logsOf(s).map((path) => readFileSync(path).length)
  expect(Math.max(...sizes)).toBeLessThan(1_400_000)
})

test('a collection leaves no log, and forgetting leaves nothing of the path in one', async () => {
  await using s = await scratch({ files: { a: 'one', secret: 'hunter2' } })
  const { store, project } = await openDurable(s)
  await project.save()
  await store.prune()
  expect(logsOf(s)).toEqual([])
  s.write({ a: 'two', secret: 'hunter3' })
  await project.save()
  expect(logged(s)).not.toEqual([])
  await project.forget('secret')
  expect(logsOf(s)).toEqual([])
})

test('what is large, or need not survive a power cut, is not written twice', async () => {
  await using s = await scratch({ files: { a: randomBytes(400_000) } })
  const { store, project } = await openDurable(s)
  await project.save()
  await store.close()
  expect(logsOf(s)).toEqual([])
  const atEase = await sdk.openStore({ home: s.home, durability: 'os' })
  s.write({ a: 'small' })
  await (await atEase.project(s.project)).save()
  await atEase.close()
  expect(logsOf(s)).toEqual([])
})

test('a log that we have not written puts nothing anywhere', async () => {
  await using s = await scratch({ files: { a: 'one' } })
  const { store, project } = await openDurable(s)
  await project.save()
  await store.close()
  const [log = ''] = logsOf(s)
  const evil = [
    'objects/../../evil',
    '/tmp/evil',
    'config',
    'refs/savestate/../../config',
    'objects/pack/x',
  ]
  for (const name of evil) appendFileSync(log, logRecord([{ name, content: Buffer.from('evil') }]))
  const before = s.snapshotOf(join(s.home, 'objects.git'))
  cutPower(s, ['well'])
  const again = await sdk.openStore({ home: s.home })
  await again.close()
  expect(s.snapshotOf(join(s.home, 'objects.git'))).toEqual(before)
  expect(existsSync(join(s.home, 'evil'))).toBe(false)
})

test('repair takes from the log what went otherwise than by a power cut', async () => {
  await using s = await scratch({ files: { a: 'one' } })
  const { store, project } = await openDurable(s)
  const { id } = await project.save()
  await store.close()
  for (const { name } of logged(s)) DAMAGES['gone']?.(join(s.home, 'objects.git', name))
  const { problems } = await sdk.verifyStore({ home: s.home })
  expect(problems).not.toEqual([])
  const repaired = await sdk.repairStore({ home: s.home })
  expect(repaired.problems).toEqual([])
  const again = await openDurable(s)
  s.write({ a: 'two' })
  await again.project.rewind({ to: id })
  expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('one')
})

async function openDurable(s: Scratch): Promise<{ store: Store; project: Project }> {
  const store = await s.open({ durability: 'fsync' })
  return { store, project: await store.project(s.project) }
}

function logsOf(s: Scratch): string[] {
  const folder = join(s.home, 'unflushed')
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

function logged(s: Scratch): LoggedFile[] {
  return logsOf(s).flatMap((path) => parseLog(readFileSync(path)).files)
}

/** The objects and refs. */
function filesOf(s: Scratch): string[] {
  return [...s.snapshotOf(join(s.home, 'objects.git'))]
    .filter(([path, { type }]) => type === 'file' && /^(objects|refs)\//.test(path))
    .map(([path]) => path)
}

/** `kinds` are done to the logged files, one after the other. */
function cutPower(s: Scratch, kinds: readonly string[]): void {
  for (const [i, { name }] of logged(s).entries()) {
    const path = join(s.home, 'objects.git', name)
    if (existsSync(path)) DAMAGES[kinds[i % kinds.length] ?? 'well']?.(path)
  }
  for (const log of logsOf(s)) {
    const bytes = readFileSync(log)
    const boot = parseLog(bytes).boot ?? ''
    const at = bytes.indexOf(boot)
    writeFileSync(
      log,
      Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from('another'),
        bytes.subarray(at + boot.length),
      ]),
    )
  }
}
