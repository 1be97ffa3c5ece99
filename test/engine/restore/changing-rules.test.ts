// Random changes of the capture rules between saves, rewinds, undos and redos. Under any rules a rewind restores
// everything in its target, and an undo right after it restores the folder byte for byte.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { Project } from '../../../src/index.js'
import { tries } from '../../support/test-budget.js'
import { random } from '../../snapshot/capture/sample-contents.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const SEEDS = Array.from({ length: tries(12, 2) }, (_, n) => n + 1)
const ROUNDS = tries(30, 6)
const LIMIT_BYTES = 100

const FILES = [
  'a.txt',
  'src/b.ts',
  'src/deep/c.ts',
  'app.db',
  'data/d.db',
  'data/big.bin',
  'dist/app.js',
  'dist/lib/x.js',
  'gen/schema.ts',
  'x.log',
  '.env',
  'src/.env.local',
]
const LINES = [
  '*.db',
  'data/',
  'gen/',
  'src/deep/',
  '!x.log',
  '!dist/',
  '*.ts',
  'a.txt',
  '!.env',
  '',
]
const RULE_FILES = ['.gitignore', '.savestateignore', 'src/.gitignore', '.git/info/exclude']

type Random = {
  readonly below: (n: number) => number
  readonly oneOf: <T>(list: readonly T[]) => T
}

function randomOf(seed: number): Random {
  const below = random(seed)
  return { below, oneOf: (list) => list[below(list.length)] as (typeof list)[number] }
}

class World {
  readonly #s: Scratch
  readonly #random: Random
  #version = 0

  constructor(s: Scratch, random: Random) {
    this.#s = s
    this.#random = random
  }

  edit(): void {
    const { below, oneOf } = this.#random
    for (let left = 1 + below(4); left > 0; left--) {
      const path = oneOf(FILES)
      const content = `${++this.#version}`.repeat(below(3) === 0 ? LIMIT_BYTES : 1)
      const mode = oneOf([0o644, 0o644, 0o600])
      if (below(4) === 0) rmSync(join(this.#s.project, path), { force: true })
      else this.#s.write({ [path]: { content, mode } })
    }
  }

  changeRules(): void {
    const { below, oneOf } = this.#random
    if (below(3) === 0) {
      const folder = oneOf(['src', 'dist', 'data', '.'])
      if (below(2) === 0) this.#s.git(['rm', '-rqf', '--cached', '--ignore-unmatch', '--', folder])
      else if (existsSync(join(this.#s.project, folder))) this.#s.git(['add', '-f', '--', folder])
      return
    }
    const path = join(this.#s.project, oneOf(RULE_FILES))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${oneOf(LINES)}\n${oneOf(LINES)}\n`)
  }

  get now(): ReturnType<Scratch['snapshotOf']> {
    return this.#s.snapshotOf(this.#s.project, { except: ['.git'] })
  }
}

/** Opens the project with its own limits, like a command with options or after a change of the settings. */
async function projectsOf(s: Scratch): Promise<readonly Project[]> {
  const limits = [
    { maxFileBytes: LIMIT_BYTES },
    { maxFileBytes: 10 * LIMIT_BYTES },
    { maxFileBytes: LIMIT_BYTES, allowSecrets: ['.env', 'src/'] },
  ]
  const stores = await Promise.all(limits.map((each) => s.open({ limits: each })))
  // One of the projects is watched: its saves scan only changed paths.
  return Promise.all(stores.map((store, n) => store.project(s.project, { watch: n === 0 })))
}

test.each(SEEDS)('rewind, undo and redo under changing rules, seed %i', async (seed) => {
  await using s = await scratch()
  s.git(['init', '-q'])
  const chance = randomOf(seed)
  const world = new World(s, chance)
  const projects = await projectsOf(s)
  const ids: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    world.edit()
    ids.push((await chance.oneOf(projects).save({})).id)
    world.changeRules()
    world.edit()
    if (chance.below(2) === 0) world.changeRules()
    const to = chance.oneOf(ids)
    const paths = chance.below(3) === 0 ? [chance.oneOf(['src', 'dist', 'data', '.'])] : []
    const before = world.now
    const project = chance.oneOf(projects)
    const rewound = await project.rewind(to, { paths }).catch((error: unknown) => {
      if (isMistyped(error)) return undefined
      throw error
    })
    if (rewound === undefined) continue
    const after = world.now
    const { changes } = await project.diff(to, { patch: 'none' })
    const isMeant = ({ path }: { readonly path: string }) =>
      paths.every((limit) => limit === '.' || path === limit || path.startsWith(`${limit}/`))
    expect(changes.filter((one) => one.change !== 'added' && isMeant(one))).toEqual([])
    if (!rewound.applied) continue
    if (chance.below(4) === 0) continue
    // The limits may have changed by then.
    await chance.oneOf(projects).undo()
    expect(world.now).toEqual(before)
    if (chance.below(2) === 0) continue
    await chance.oneOf(projects).redo()
    expect(world.now).toEqual(after)
    await chance.oneOf(projects).undo()
    expect(world.now).toEqual(before)
  }
})

/** A path that is neither in the folder nor in the checkpoint. */
function isMistyped(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Neither the folder nor')
}
