// The crash tests: a project with two checkpoints and changes of every kind since, operations on it that a child process runs
// until SIGKILL at a failpoint, and the checks after the next command.
/* oxlint-disable vitest/no-standalone-expect, vitest/no-conditional-expect -- called by tests only */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { Project, Store } from '../../src/index.js'
import { restoreScratch, saveScratch } from '../support/saved-scratch.js'
import { type Scratch, type Seen, scratch } from '../support/scratch.js'
import { FIRST, SECOND, THIRD, TYPE_CHANGES } from './crash-files.js'
import type { Operation } from './crash-points.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../support/crash-child.mjs')

/** Every next command has to recover first. */
export const NEXT = ['save', 'list', 'rewind', 'undo', 'verify', 'diff', 'show'] as const
type Next = (typeof NEXT)[number]

type Step = readonly [string, unknown?]
export type World = Map<string, Seen>

/** One operation to kill: the state before it, the state after it, and how to restore the first. */
type Story = {
  readonly template: string
  readonly steps: readonly Step[]
  readonly before: World
  readonly after: World
}

export class CrashScenario {
  readonly s: Scratch
  stories!: Readonly<Record<Operation, Story>>
  /** The result of rewinding to the two old checkpoints. */
  worlds!: { readonly first: World; readonly second: World }
  ids!: { readonly first: string; readonly second: string }

  private constructor(s: Scratch) {
    this.s = s
  }

  static async create(): Promise<CrashScenario> {
    const scenario = new CrashScenario(await scratch({ files: FIRST }))
    await scenario.#prepare()
    return scenario
  }

  async #prepare(): Promise<void> {
    this.ids = await this.withProject(async (project) => {
      const first = await project.save({ reason: 'first' })
      this.s.write(SECOND)
      const second = await project.save({ reason: 'second' })
      return { first: first.id, second: second.id }
    })
    this.s.write(THIRD)
    for (const [path, files] of TYPE_CHANGES) {
      this.s.write({ [path]: null })
      this.s.write(files)
    }
    saveScratch(this.s, 'third')
    this.worlds = {
      second: await this.#worldAfter('third', [['rewind', { to: this.ids.second }]]),
      first: await this.#worldAfter('third', [['rewind', { to: this.ids.first }]]),
    }
    this.s.write({ 'unchanged.txt': 'edited after the rewind\n' })
    saveScratch(this.s, 'rewound')
    restoreScratch(this.s, 'third')
    this.s.write(
      Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`many/${i}`, `file ${i}\n`])),
    )
    saveScratch(this.s, 'many')
    this.stories = {
      save: await this.#storyOf('third', [['save', { reason: 'killed' }]]),
      'save-many': await this.#storyOf('many', [['save', { reason: 'killed' }]]),
      rewind: await this.#storyOf('third', [['rewind', { to: this.ids.first }]]),
      undo: await this.#storyOf('rewound', [['undo']]),
      'undo-step': await this.#storyOf('third', [
        ['undoSteps', { to: [this.ids.second], conflict: 'theirs' }],
      ]),
    }
  }

  kill(operation: Operation, point: string): void {
    const { template, steps } = this.stories[operation]
    restoreScratch(this.s, template)
    this.runChild(steps, point)
  }

  /** Runs the steps in a process that must die at the failpoint and for no other reason. */
  runChild(steps: readonly Step[], failpoint: string): void {
    // Saves and undos with a capture thread, as in a program; the others without, as in a command.
    const inProcess = steps.every(([name]) => name !== 'save' && name !== 'undo')
    // Small saves write through the log only if they must survive a power failure.
    const durability = inProcess ? 'process' : 'fsync'
    const place = { home: this.s.home, project: this.s.project }
    const request = JSON.stringify({ ...place, inProcess, durability, run: steps })
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
    const child = spawnSync(process.execPath, [CHILD, request], {
      env: { ...env, SAVESTATE_FAILPOINT: failpoint },
      encoding: 'utf8',
    })
    const { signal, stdout, stderr } = child
    expect({ signal, stdout, stderr }).toEqual({ signal: 'SIGKILL', stdout: '', stderr: '' })
  }

  async withProject<T>(work: (project: Project, store: Store) => Promise<T>): Promise<T> {
    // Starting a thread would take longer than the case.
    const store = await this.s.open({ inProcess: true })
    try {
      return await work(await store.project(this.s.project), store)
    } finally {
      await store.close()
    }
  }

  async expectRecovered(operation: Operation, next: Next): Promise<void> {
    const { before, after } = this.stories[operation]
    await this.withProject(async (project, store) => {
      if (next === 'rewind') {
        await project.rewind(this.ids.second)
        expect(this.s.snapshotOf()).toEqual(this.worlds.second)
      } else if (next === 'undo') {
        // Whether it was finished or undone, an undo has the same result.
        await project.undo().catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'NOTHING_TO_UNDO' })
        })
        expect(this.s.snapshotOf()).toEqual(operation === 'undo' ? after : before)
      } else {
        if (next === 'verify') {
          const { problems } = await store.verify()
          const damage = problems.filter(({ severity }) => severity === 'damage')
          expect(damage.filter(({ kind }) => kind !== 'interrupted')).toEqual([])
          await project.list()
        } else if (next === 'show') {
          await project.show(this.ids.first)
        } else if (next === 'diff') {
          await project.diff(this.ids.first)
        } else if (next === 'list') {
          await project.list()
        }
        const world = this.s.snapshotOf()
        if (next !== 'save') expect([before, after]).toContainEqual(world)
        const saved = await project.save({ reason: 'next' })
        expect([before, after]).toContainEqual(this.s.snapshotOf())
        if (next !== 'save') expect(this.s.snapshotOf()).toEqual(world)
        // The save captured the current folder: rewinding to it changes nothing.
        expect(await project.rewind(saved.id)).toMatchObject({ applied: false })
      }
      await this.expectSound(project, store)
    })
  }

  /** No leftovers, no loss, no damage. */
  async expectSound(project: Project, store: Store): Promise<void> {
    const leftovers = [...this.s.snapshotOf().keys()].filter((path) => path.includes('.savestate-'))
    expect(leftovers).toEqual([])
    const inStore = (name: string) =>
      existsSync(join(this.s.home, name)) ? readdirSync(join(this.s.home, name)) : []
    expect(inStore('journal')).toEqual([])
    const checkpoints = await project.list()
    expect(checkpoints.map(({ id }) => id)).toEqual(
      expect.arrayContaining([this.ids.first, this.ids.second]),
    )
    await project.rewind(this.ids.first)
    expect(this.s.snapshotOf()).toEqual(this.worlds.first)
    await project.rewind(this.ids.second)
    expect(this.s.snapshotOf()).toEqual(this.worlds.second)
    expect(inStore('tmp')).toEqual([])
    // Verify runs `git fsck` too.
    const { problems } = await store.verify()
    expect(problems.filter(({ severity }) => severity === 'damage')).toEqual([])
  }

  async #storyOf(template: string, steps: readonly Step[]): Promise<Story> {
    restoreScratch(this.s, template)
    const before = this.s.snapshotOf()
    return { template, steps, before, after: await this.#worldAfter(template, steps) }
  }

  async #worldAfter(template: string, steps: readonly Step[]): Promise<World> {
    restoreScratch(this.s, template)
    await this.withProject(async (project) => {
      for (const [name, input] of steps) {
        if (name === 'rewind') await project.rewind((input as { to: string }).to)
        if (name === 'undo') await project.undo()
        if (name === 'undoSteps') await project.undoSteps([this.ids.second], { conflict: 'theirs' })
        if (name === 'save') await project.save(input as { reason: string })
      }
    })
    return this.s.snapshotOf()
  }
}
