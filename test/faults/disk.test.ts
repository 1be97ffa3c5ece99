// A disk that gets full at any write: the operation reports it, nothing acknowledged is lost, a rewind is finished or undone, and
// with free space everything works again.
/* oxlint-disable vitest/no-standalone-expect, vitest/no-conditional-expect -- World looks after every command */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { CheckpointView, PruneResult, SaveResult, VerifyResult } from '../../src/index.js'
import { PROGRAM } from '../cli/program.js'
import { type Scratch, scratch, type Seen } from '../support/scratch.js'
import { type SmallDisk, smallDisk } from '../support/small-disk.js'

const SWEEP = fileURLToPath(new URL('./full-at-every-write.mjs', import.meta.url))
const KB = 1024
const DISK_FULL = { error: { code: 'DISK_FULL' } }

test.each(['save', 'rewind', 'session'])(
  'a %s on a disk that is full at any of its writes happens completely or not at all',
  async (operation) => {
    const held = { 'a.txt': 'one', 'deep/er/b.txt': 'one', 'gone/c.txt': 'one' }
    await using s = await scratch({ files: held })
    const store = await s.open()
    const project = await store.project(s.project)
    const { id: target } = await project.save()
    s.write({ 'a.txt': 'two', 'deep/er/b.txt': 'two', gone: null, 'new/d.txt': 'two' })
    if (operation === 'rewind') await project.save()
    // Changes that are in no checkpoint yet.
    s.write({ 'a.txt': 'three', 'e/f/g.txt': 'three' })
    await store.close()
    const work = join(s.folder, 'work')
    mkdirSync(work)
    const request = { home: s.home, project: s.project, scratch: work, operation, target, held }
    const { stdout, stderr } = spawnSync(process.execPath, [SWEEP, JSON.stringify(request)], {
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    const { failures, faults } = JSON.parse(stdout) as { failures: number; faults: string[] }
    expect(faults).toEqual([])
    // All writes; a run that missed them would prove nothing.
    expect(failures).toBeGreaterThan(10)
  },
)

test('on a really full disk the program reports it and loses nothing', async () => {
  await using s = await scratch()
  using disk = await smallDisk(join(s.folder, 'disk'), 24)
  process.stderr.write(`The disk is full by: ${disk.kind}\n`)
  const world = new World(s, disk)
  const levels = (...kilobytes: number[]) => kilobytes.map((room) => room * KB)

  world.change(300, 1500)
  world.failing(['save'], levels(0, 30, 180, 270, 290))
  world.saved()
  world.change(12, 3000)
  world.failing(['save'], levels(0, 34, 50, 70, 90))
  world.saved()
  world.change(20, 6000)
  world.failing(['rewind', '1', '-y'], levels(0, 40, 80, 160, 220))
  writeFileSync(join(disk.seen, 'state.json'), JSON.stringify({ notes: noise(120_000) }))
  const state = [
    'save',
    '--no-files',
    '--session',
    'agent',
    '--state',
    join(disk.path, 'state.json'),
  ]
  world.failing(state, levels(0, 40, 120))
  expect(world.run(state).code).toBe(0)
  for (const room of levels(0, 40, 60)) {
    world.change(4, 30_000)
    world.saved()
    // A prune may succeed, because it frees space. Its candidates may be gone in any case.
    const prune = ['prune', '-y', '--max-size-mb', '1']
    world.forget(JSON.parse(world.run([...prune, '--dry-run']).stdout) as PruneResult)
    const { code, stderr } = world.run(prune, room)
    if (code !== 0) expect([code, JSON.parse(stderr)]).toMatchObject([2, DISK_FULL])
    world.expectSound()
  }
  world.expectAllBack()
})

/** The program on a small disk, and the checkpoints it has acknowledged. */
class World {
  readonly #disk: SmallDisk
  readonly #scratch: Scratch
  readonly #env: Readonly<Record<string, string>>
  readonly #known = new Map<string, Map<string, Seen>>()

  constructor(s: Scratch, disk: SmallDisk) {
    this.#disk = disk
    this.#scratch = s
    const user = join(s.folder, 'user')
    for (const path of [user, this.#project]) mkdirSync(path)
    this.#env = { HOME: user, TMPDIR: user, SAVESTATE_HOME: join(disk.path, 'store') }
  }

  get #project(): string {
    return join(this.#disk.seen, 'project')
  }

  run(args: readonly string[], freeBytes?: number): ReturnType<SmallDisk['run']> {
    const all = [PROGRAM, '-C', join(this.#disk.path, 'project'), '--json', ...args]
    return this.#disk.run(all, {
      env: this.#env,
      ...(freeBytes === undefined ? {} : { freeBytes }),
    })
  }

  change(files: number, bytes: number): void {
    for (let i = 0; i < files; i += 1) {
      const folder = join(this.#project, `folder-${i % 5}`)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `file-${i}`), noise(bytes))
    }
  }

  /** At each level of free space it fails with the right error and does not change the folder. */
  failing(args: readonly string[], rooms: readonly number[]): void {
    const before = this.#scratch.snapshotOf(this.#project)
    let failed = 0
    for (const room of rooms) {
      const { code, stderr } = this.run(args, room)
      this.expectSound()
      // With injected errors SQLite is not limited, so less space is enough.
      if (code === 0) break
      failed += 1
      expect([code, JSON.parse(stderr)]).toMatchObject([2, DISK_FULL])
      expect(this.#scratch.snapshotOf(this.#project)).toEqual(before)
    }
    if (this.#disk.kind === 'tmpfs') expect(failed).toBe(rooms.length)
  }

  saved(): void {
    const { code, stdout, stderr } = this.run(['save'])
    expect([code, stderr]).toEqual([0, ''])
    const { id } = JSON.parse(stdout) as SaveResult
    this.#known.set(id, this.#scratch.snapshotOf(this.#project))
  }

  forget({ plan }: PruneResult): void {
    for (const { drop } of plan.projects) for (const { id } of drop) this.#known.delete(id)
  }

  /** Nothing acknowledged is lost, and verify finds no problems. */
  expectSound(): void {
    if (!existsSync(join(this.#disk.seen, 'store/ledger.db'))) return
    const listed = this.run(['list', '--limit', '1000'])
    expect([listed.code, listed.stderr]).toEqual([0, ''])
    const ids = (JSON.parse(listed.stdout) as { checkpoints: CheckpointView[] }).checkpoints.map(
      ({ id }) => id,
    )
    expect(ids).toEqual(expect.arrayContaining([...this.#known.keys()]))
  }

  expectAllBack(): void {
    for (const [id, seen] of this.#known) {
      expect(this.run(['rewind', id, '-y'])).toMatchObject({ code: 0 })
      expect(this.#scratch.snapshotOf(this.#project)).toEqual(seen)
    }
    const verified = this.run(['verify'])
    expect((JSON.parse(verified.stdout) as VerifyResult).problems).toEqual([])
    const pruned = this.run(['prune', '-y'])
    expect((JSON.parse(pruned.stdout) as PruneResult).errors).toEqual([])
    // Git cannot use paths of the other namespace.
    cpSync(join(this.#disk.seen, 'store'), this.#scratch.home, { recursive: true })
    expect(this.#scratch.fsck()).toBe('')
    const names = readdirSync(this.#disk.seen, { recursive: true, encoding: 'utf8' })
    expect(
      names.filter((name) => /\.savestate-tmp-|\.tmp$|store\/(tmp|journal)\/.|\/tmp_/.test(name)),
    ).toEqual([])
  }
}

function noise(bytes: number): string {
  return randomBytes(Math.ceil((bytes * 3) / 4)).toString('base64')
}
