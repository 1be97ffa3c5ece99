// A small store with data of every kind, and functions that damage one of its files. It is created once and copied for every case.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { GIT_ENVIRONMENT, sdk, snapshotOf, type Seen } from '../../support/scratch.js'

export const DAMAGES = ['truncated', 'zeroed', 'flipped', 'deleted'] as const
export type DamageKind = (typeof DAMAGES)[number]

export type Known = {
  readonly id: string
  readonly project: string
  readonly tree: string
  /** Under refs/savestate. */
  readonly ref: string
  readonly content: Map<string, Seen>
  /** Ids of all objects that it needs. */
  readonly objects: ReadonlySet<string>
}

export type DamageStore = {
  readonly folder: string
  readonly pristine: string
  readonly checkpoints: readonly Known[]
  /** States of the session `task`, by checkpoint. */
  readonly states: ReadonlyMap<string, unknown>
  /** By object id. */
  readonly types: ReadonlyMap<string, string>
  /** Copies the store to a new folder with this name. */
  copy(): string
  dispose(): void
}

export async function makeStore(): Promise<DamageStore> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-damage-')))
  const pristine = join(folder, 'pristine')
  const projects = ['one', 'two'].map((name) => join(folder, name))
  for (const path of projects) mkdirSync(path)
  mkdirSync(pristine, { mode: 0o700 })
  // A background prune would have the store open during a repair.
  writeFileSync(join(pristine, 'config.json'), '{"autoPrune":false}\n', { mode: 0o600 })
  const store = await sdk.openStore({ home: pristine, durability: 'process' })
  const saved: Omit<Known, 'objects'>[] = []
  const note = async (project: string, id: string) => {
    const shown = await (await store.project(project)).show(id)
    saved.push(knownOf(project, shown))
  }
  const [one = '', two = ''] = projects
  const states = new Map<string, unknown>()
  // Enough files for a pack.
  mkdirSync(join(one, 'many'))
  for (let n = 0; n < 130; n++)
    writeFileSync(join(one, 'many', `f${n}`), `file ${n} ${'x'.repeat(n * 7)}\n`)
  writeFileSync(join(one, 'a.txt'), 'first\n')
  const first = await store.project(one)
  await note(one, (await first.save({ reason: 'packed' })).id)
  writeFileSync(join(one, 'a.txt'), 'second\n')
  await note(one, (await first.save({ name: 'named' })).id)
  const session = await store.session('task', { agent: 'tester', project: first })
  for (let step = 0; step < 3; step++) {
    writeFileSync(join(one, 'b.txt'), `step ${step}\n`)
    const state = {
      messages: Array.from({ length: 40 }, (_, n) => ({
        role: 'user',
        content: `message ${n} of ${step}`,
      })),
    }
    const { id } = await session.save({ state, files: true })
    states.set(id, state)
    await note(one, id)
  }
  await session.close()
  mkdirSync(join(two, 'folder'))
  writeFileSync(join(two, 'folder', 'c.txt'), 'other project\n')
  const second = await store.project(two)
  await note(two, (await second.save()).id)
  writeFileSync(join(two, 'd.txt'), 'more\n')
  await note(two, (await second.save({ reason: 'more' })).id)
  await store.close()
  writeFileSync(join(two, 'e.txt'), 'in the log\n')
  saved.push(knownOf(two, saveAndDie(pristine, two)))
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${join(pristine, 'objects.git')}`, ...args], {
      env: GIT_ENVIRONMENT,
    })
      .toString()
      .split('\n')
      .filter((line) => line !== '')
  const checkpoints = saved.map((known) => ({
    ...known,
    objects: new Set(git('rev-list', '--objects', known.tree).map((line) => line.slice(0, 40))),
  }))
  const types = new Map(
    git('cat-file', '--batch-all-objects', '--batch-check').map((line) => {
      const [id = '', type = ''] = line.split(' ')
      return [id, type]
    }),
  )
  let copies = 0
  return {
    folder,
    pristine,
    checkpoints,
    states,
    types,
    copy() {
      const home = join(folder, `copy-${++copies}`)
      execFileSync('cp', ['-R', pristine, home])
      return home
    },
    // `cp` is much faster than node for hundreds of copies.
    dispose: () => void execFileSync('rm', ['-rf', folder]),
  }
}

type Shown = { readonly id: string; readonly tree: string | null; readonly ref: string | null }

/** A killed process leaves its rows in the write-ahead log. */
function saveAndDie(home: string, folder: string): Shown {
  const script = `
    const { openStore } = await import(${JSON.stringify(new URL('../../../dist/index.js', import.meta.url))})
    const store = await openStore({ home: ${JSON.stringify(home)}, durability: 'process', inProcess: true })
    const project = await store.project(${JSON.stringify(folder)})
    const { id } = await project.save({ reason: 'in the log' })
    console.log(JSON.stringify(await project.show(id)))
    process.kill(process.pid, 'SIGKILL')
  `
  const args = ['--input-type=module', '-e', script]
  const { signal, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (signal !== 'SIGKILL') throw new Error('It has ended by itself')
  return JSON.parse(stdout) as Shown
}

function knownOf(project: string, { id, tree, ref }: Shown): Omit<Known, 'objects'> {
  const place = (ref ?? '').replace('refs/savestate/', '')
  return { id, project, tree: tree ?? '', ref: place, content: snapshotOf(project) }
}

export function damage(path: string, kind: DamageKind): void {
  const bytes = readFileSync(path)
  const middle = Math.floor(bytes.length / 2)
  switch (kind) {
    case 'truncated':
      return writeFileSync(path, bytes.subarray(0, middle))
    case 'zeroed':
      return writeFileSync(path, Buffer.alloc(bytes.length))
    case 'flipped':
      if (bytes.length > 0) bytes[middle] = (bytes[middle] ?? 0) ^ 0x10
      return writeFileSync(path, bytes)
    case 'deleted':
      return rmSync(path)
  }
}

/** Every file of a store except the user's settings, as relative paths. */
export function filesOf(home: string, folder = home): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return filesOf(home, path)
    return path === join(home, 'config.json') ? [] : [relative(home, path)]
  })
}

/** Objects that may be lost with the file: the loose one, or those of the pack. */
export function objectsIn(home: string, file: string): string[] {
  const loose = /objects\/([0-9a-f]{2})\/([0-9a-f]{38})$/.exec(file)
  if (loose !== null) return [`${loose[1]}${loose[2]}`]
  if (!file.endsWith('.pack')) return []
  const index = join(home, file.replace(/pack$/, 'idx'))
  return execFileSync('git', ['show-index'], { input: readFileSync(index), env: GIT_ENVIRONMENT })
    .toString()
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
}
