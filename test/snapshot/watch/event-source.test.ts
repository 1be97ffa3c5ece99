import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { bytePath, ROOT } from '../../../src/model/index.js'
import {
  type EventSource,
  FolderSource,
  type SourceEvent,
} from '../../../src/snapshot/watch/event-source.js'
import { TreeSource } from '../../../src/snapshot/watch/tree-source.js'

/** In memory where possible, because the tests create thousands of folders. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const top = realpathSync(mkdtempSync(join(PLACE, 'savestate-events-')))
afterAll(() => rmSync(top, { recursive: true, force: true }))

type Kind = new (...args: ConstructorParameters<typeof FolderSource>) => EventSource

class Heard implements Disposable {
  readonly root: string
  readonly source: EventSource
  readonly events: SourceEvent[] = []
  readonly faults: unknown[] = []
  counted = 0

  constructor(name: string, Source: Kind) {
    this.root = join(top, name)
    mkdirSync(this.root)
    this.source = new Source(bytePath(this.root), {
      onCount: () => (this.counted += 1),
      onEvent: (event) => this.events.push(event),
      onFault: (error) => this.faults.push(error),
    })
  }

  write(name: string): void {
    writeFileSync(join(this.root, name), name)
  }

  /** The unique paths of the events so far. */
  get places(): string[] {
    return [...new Set(this.events.map(({ folder, name }) => `${folder}/${name}`))].sort()
  }

  [Symbol.dispose](): void {
    this.source.close()
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('closing thousands of watches does not drop the events of others', async () => {
  using many = new Heard('many', FolderSource)
  using one = new Heard('one', FolderSource)
  one.source.add(ROOT)
  // More than the length of the kernel's queue.
  for (let i = 0; i < 17_000; i++) {
    mkdirSync(join(many.root, String(i)))
    many.source.add(bytePath(String(i)))
  }
  await sleep(20)
  many.source.close()
  await turn()
  one.write('a')
  for (let i = 0; i < 100 && one.events.length === 0; i++) await sleep(5)
  expect(one.places).toEqual(['/a'])
})

test('dropping a folder ends its watch and those below it', async () => {
  using heard = new Heard('drop', FolderSource)
  const { source } = heard
  for (const name of ['a', 'a/b', 'c']) mkdirSync(join(heard.root, name))
  for (const name of ['a', 'a/b', 'c']) expect(source.add(bytePath(name))).toBe(true)
  expect([source.add(bytePath('a')), source.folders]).toEqual([false, 3])
  heard.write('a/b/1')
  await sleep(20)
  source.drop(bytePath('a'))
  expect(source.folders).toBe(1)
  for (const name of ['a/2', 'a/b/3', 'c/4']) heard.write(name)
  await sleep(20)
  expect(heard.places).toEqual(['a/b/1', 'c/4'])
})

test('a new watch on a folder ends older watches below it', () => {
  using heard = new Heard('inside', FolderSource)
  const { source } = heard
  mkdirSync(join(heard.root, 'a/b'), { recursive: true })
  const add = (path: string) => source.add(bytePath(path))
  expect([add('a/b'), add('a/b'), add('a'), add('a/b')]).toEqual([true, false, true, true])
})

test('a missing folder cannot be watched', () => {
  using heard = new Heard('absent', FolderSource)
  expect(() => heard.source.add(bytePath('nowhere'))).toThrow(/ENOENT/)
  expect(heard.source.folders).toBe(0)
})

test.each([
  ['a watch for each folder', FolderSource],
  ['one watch for the tree', TreeSource],
] as const)('%s: the removal of a folder is reported', async (_, Source) => {
  using heard = new Heard(`gone-${Source.name}`, Source)
  heard.source.add(ROOT)
  await sleep(20)
  rmSync(heard.root, { recursive: true })
  const isHeard = () => heard.faults.length > 0 || heard.events.length > 0
  for (let i = 0; i < 100 && !isHeard(); i++) await sleep(5)
  expect(isHeard()).toBe(true)
})

// Tests the plumbing only: the behavior on macOS and Windows cannot be tested here.
test('a tree watch reports all folders, then its cookie, which it removes', async () => {
  using heard = new Heard('tree', TreeSource)
  const { source } = heard
  mkdirSync(join(heard.root, 'a/b'), { recursive: true })
  expect([source.folders, source.add(ROOT), source.add(bytePath('a')), source.folders]).toEqual([
    0,
    true,
    false,
    1,
  ])
  await sleep(20)
  heard.write('a/b/file')
  heard.write('top')
  expect(await source.drain?.()).toBe(true)
  expect(heard.places).toEqual(expect.arrayContaining(['/top', 'a/b/file']))
  expect(heard.events.every(({ isRename }) => isRename)).toBe(true)
  expect(heard.counted).toBeGreaterThanOrEqual(heard.events.length)
  expect(readdirSync(heard.root).sort()).toEqual(['a', 'top'])
  source.drop(bytePath('a'))
  expect(source.folders).toBe(1)
  source.drop(ROOT)
  expect([source.folders, heard.faults]).toEqual([0, []])
  expect(await source.drain?.()).toBe(false)
  expect(readdirSync(heard.root).sort()).toEqual(['a', 'top'])
})
