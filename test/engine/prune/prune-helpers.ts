// Helpers for the tests of prune, collection and clear.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Project, PruneResult, Store, StoreOptions } from '../../../src/index.js'
import type { Scratch } from '../../support/scratch.js'

export const DAY_MS = 86_400_000

/** A clock that the test moves. */
export class HandClock {
  #now = Date.now()
  readonly random = (bytes: number) => new Uint8Array(randomBytes(bytes))
  readonly nowMs = () => this.#now

  pass(ms: number): void {
    this.#now += ms
  }
}

/** Settings of the store, which may exist before the store. */
export function setStore(s: Scratch, config: object): void {
  mkdirSync(s.home, { recursive: true, mode: 0o700 })
  writeFileSync(join(s.home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
}

export function setProject(folder: string, config: object): void {
  writeFileSync(join(folder, '.savestate.json'), JSON.stringify(config))
}

export function otherFolder(s: Scratch, name: string): string {
  const folder = join(s.folder, name)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Saves incompressible contents one after the other; returns the ids, oldest first. */
export async function saveMany(
  project: Project,
  s: Scratch,
  { count, bytes = 100 }: { readonly count: number; readonly bytes?: number },
): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) {
    s.write({ 'noise.txt': randomBytes(bytes) }, project.path)
    ids.push((await project.save({ reason: `save ${n}` })).id)
  }
  return ids
}

export async function idsOf(project: Project): Promise<string[]> {
  const checkpoints = await project.list({ limit: 1000 })
  return checkpoints.map(({ id }) => id)
}

/** Like `du`: blocks, including folders. */
export function diskBytes(folder: string): number {
  return Number(execFileSync('du', ['-s', '-B1', folder]).toString().split('\t')[0])
}

export async function withStore<T>(
  s: Scratch,
  work: (store: Store) => Promise<T>,
  options: StoreOptions = {},
): Promise<T> {
  const store = await s.open(options)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

export function planOf(result: PruneResult, path: string): PruneResult['plan']['projects'][number] {
  const found = result.plan.projects.find((project) => project.path === path)
  if (found === undefined) throw new Error(`The plan says nothing of ${path}`)
  return found
}

/** Files that a collection must not leave behind. */
export function leftoversIn(home: string): string[] {
  const objects = join(home, 'objects.git', 'objects')
  const packs = readdirSync(join(objects, 'pack'))
  const isLonely = (file: string) =>
    file.endsWith('.pack') && !packs.includes(file.replace(/\.pack$/, '.idx'))
  const temporaries = existsSync(join(home, 'tmp')) ? readdirSync(join(home, 'tmp')) : []
  return [
    ...packs.filter((file) => isLonely(file) || file.startsWith('tmp_')),
    ...readdirSync(objects).filter((name) => name.startsWith('tmp_')),
    ...temporaries,
  ]
}

/** After this a test gives up waiting for a background prune. */
export const DEADLINE_MS = 40_000

/** Running prune processes; each has the path of the store in its arguments. */
export function prunesOf(home: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const [, program = '', argument] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return program.endsWith('prune-process.js') && argument === home
    } catch {
      return false
    }
  })
}

/** Waits until no prune is running. */
export async function untilNoPruneRuns(home: string): Promise<void> {
  const until = Date.now() + DEADLINE_MS
  while (prunesOf(home).length > 0 && Date.now() < until) await sleep(30)
  expect(prunesOf(home)).toEqual([])
}
