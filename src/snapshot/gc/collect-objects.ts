// Removes objects that no checkpoint refers to. Safe while other processes save (docs/guide/store.md#collection): a save shares the
// lock on the objects from its first lookup until its row is written. Objects are removed only while no one shares the lock, and
// only if all refs that exist at that time have been traversed.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ObjectId, SavestateError } from '../../model/index.js'
import { failpoint, listIfExists } from '../../system/index.js'
import { loosePath } from '../objects/loose.js'
import { type Pack, listObjectFiles } from './object-sizes.js'
import { reachableFrom } from './object-graph.js'
import { hasNewRefs, commitsOf, newRefs, packRefs, type RefsScan, scanRefs } from './refs.js'
import { repack, select } from './repack.js'

type CollectOptions = {
  /** A folder for temporary files on the same disk. */
  readonly temporary: string
  /** Runs the work while no save is running; undefined if one is. */
  readonly alone: <T>(work: () => T) => { readonly result: T } | undefined
  readonly recorded: () => ReadonlySet<string>
  /** Trees that unfinished rewinds need and that no ref may hold. */
  readonly goals: () => readonly ObjectId[]
  /** Rewrite packs with any waste at all, and pack all loose objects. */
  readonly thorough: boolean
  /** Gives up if saves leave no gap for this long. */
  readonly waitMs: number
}

export type Collected = {
  readonly removed: number
  /** False: saves ran all the time, and something is left for the next collection. */
  readonly isComplete: boolean
}

const BATCH_FILES = 200
const BATCH_MS = 15
const PAUSE_MS = 5

export async function collectObjects(gitDir: string, options: CollectOptions): Promise<Collected> {
  await packRefs(gitDir)
  const objects = join(gitDir, 'objects')
  const seen = scanRecordedRefs(gitDir, options)
  const goals = new Set(options.goals())
  const commits = [...commitsOf(seen.refs), ...goals]
  const live = await reachableFrom(gitDir, commits)
  const census = listObjectFiles(objects)
  const selection = select(census, live, options)
  const temporary = join(options.temporary, 'repack')
  const name =
    selection.packs.length + selection.loose.length === 0
      ? undefined
      : await repack(gitDir, selection, { commits, live, temporary })
  failpoint('collect:repacked')
  const sweep = new Sweep(gitDir, { seen, goals, live, options })
  const packed = new Set(name === undefined ? [] : selection.loose)
  const garbage = [...census.loose.keys()].filter((id) => !live.has(id) || packed.has(id))
  const packs = selection.packs.filter((pack) => pack.name !== name)
  return sweep.run({ garbage, packs: name === undefined ? packsWithoutLive(packs, live) : packs })
}

/**
 * Objects without a ref are removed, so every checkpoint must have its ref (I1). A power failure or a user may have removed some,
 * and `repair` can recreate them.
 */
function scanRecordedRefs(
  gitDir: string,
  { recorded }: Pick<CollectOptions, 'recorded'>,
): RefsScan {
  // In this order: a row is written after its ref.
  const rows = recorded()
  const seen = scanRefs(gitDir)
  const held = commitsOf(seen.refs) as ReadonlySet<string>
  const missing = [...rows].filter((commit) => !held.has(commit))
  if (missing.length === 0) return seen
  // Another process may have removed rows since, together with their refs.
  const still = recorded()
  const lost = missing.filter((commit) => still.has(commit)).length
  if (lost === 0) return seen
  const what =
    lost === 1
      ? 'A checkpoint has no ref that points to it'
      : `${lost} checkpoints have no refs that point to them`
  throw new SavestateError('STORE_DAMAGED', what, {
    hint: 'Nothing was removed. Run `savestate repair`, which recreates refs.',
  })
}

/** Without a new pack, only packs without live objects may be removed. */
function packsWithoutLive(packs: readonly Pack[], live: ReadonlySet<string>): Pack[] {
  return packs.filter(({ objects }) => ![...objects.keys()].some((id) => live.has(id)))
}

type Doomed = { readonly garbage: readonly string[]; readonly packs: readonly Pack[] }

class Sweep {
  readonly #gitDir: string
  readonly #objects: string
  readonly #options: CollectOptions
  readonly #live: Set<string>
  #seen: RefsScan
  readonly #goals: Set<ObjectId>
  #removed = 0
  readonly #deadline: number

  constructor(
    gitDir: string,
    {
      seen,
      goals,
      live,
      options,
    }: {
      seen: RefsScan
      goals: Set<ObjectId>
      live: Set<string>
      options: CollectOptions
    },
  ) {
    this.#gitDir = gitDir
    this.#objects = join(gitDir, 'objects')
    this.#seen = seen
    this.#goals = goals
    this.#live = live
    this.#options = options
    this.#deadline = performance.now() + options.waitMs
  }

  async run({ garbage, packs }: Doomed): Promise<Collected> {
    const held = new Set(this.#live)
    let left = [...garbage]
    while (left.length > 0) {
      const done = await this.#whenExclusive(() => this.#removeLoose(left, held))
      if (done === undefined) return { removed: this.#removed, isComplete: false }
      left = left.slice(done)
    }
    for (const pack of packs) {
      const done = await this.#whenExclusive(() => this.#setAside(pack, held))
      if (done === undefined) return { removed: this.#removed, isComplete: false }
    }
    const done = await this.#whenExclusive(() => this.#sweepLeftovers())
    // Removing large files takes a while, so it happens after the lock is released.
    rmSync(this.#trash, { recursive: true, force: true })
    return { removed: this.#removed, isComplete: done !== undefined }
  }

  get #trash(): string {
    return join(this.#options.temporary, 'removed')
  }

  /**
   * Runs the work while no save is running and all refs have been traversed. Undefined if saves leave no gap until the deadline.
   */
  async #whenExclusive<T>(work: () => T): Promise<T | undefined> {
    for (;;) {
      const outcome = this.#options.alone(() =>
        hasNewRefs(this.#gitDir, this.#seen) || this.#newGoals().length > 0
          ? undefined
          : { value: work() },
      )
      if (outcome?.result !== undefined) return outcome.result.value
      if (performance.now() > this.#deadline) return undefined
      if (outcome !== undefined) await this.#follow()
      await sleep(PAUSE_MS)
    }
  }

  #newGoals(): readonly ObjectId[] {
    return this.#options.goals().filter((goal) => !this.#goals.has(goal))
  }

  /** Marks the objects of new checkpoints and of new journals as live. */
  async #follow(): Promise<void> {
    const goals = this.#newGoals()
    const seen = scanRefs(this.#gitDir)
    const commits = commitsOf(newRefs(seen.refs, this.#seen))
    const held = await reachableFrom(this.#gitDir, [...commits, ...goals])
    for (const id of held) this.#live.add(id)
    for (const goal of goals) this.#goals.add(goal)
    this.#seen = seen
  }

  /** Returns how many ids were processed. `before`: the ids that were live at the start; they are packed by now. */
  #removeLoose(ids: readonly string[], before: ReadonlySet<string>): number {
    const until = performance.now() + BATCH_MS
    let done = 0
    for (const id of ids.slice(0, BATCH_FILES)) {
      if (performance.now() > until) break
      done += 1
      if (this.#live.has(id) && !before.has(id)) continue
      rmSync(loosePath(this.#objects, id as ObjectId), { force: true })
      this.#removed += 1
      failpoint('collect:loose-removed')
    }
    return done
  }

  /** Removes a pack, unless a new checkpoint needs an object that is only in this pack. */
  #setAside({ name, objects }: Pack, before: ReadonlySet<string>): true {
    for (const id of objects.keys()) if (this.#live.has(id) && !before.has(id)) return true
    const folder = join(this.#objects, 'pack')
    const files = readdirSync(folder).filter((file) => file.startsWith(`${name}.`))
    // The index first: git does not read packs without an index.
    const ordered = files.sort((a, b) => Number(b.endsWith('.idx')) - Number(a.endsWith('.idx')))
    for (const file of ordered) {
      this.#moveToTrash(join(folder, file), file)
      failpoint('collect:pack-removed')
    }
    return true
  }

  /** Removes what a killed writer left. No one else is writing, so every unfinished file is garbage. */
  #sweepLeftovers(): true {
    const folder = join(this.#objects, 'pack')
    const files = listIfExists(folder)
    for (const file of files) {
      const isUnseen = file.endsWith('.pack') && !files.includes(file.replace(/\.pack$/, '.idx'))
      if (isUnseen || file.startsWith('tmp_')) this.#moveToTrash(join(folder, file), file)
    }
    for (const prefix of readdirSync(this.#objects)) {
      const at = join(this.#objects, prefix)
      if (prefix.startsWith('tmp_')) this.#moveToTrash(at, prefix)
      if (/^[0-9a-f]{2}$/.test(prefix) && readdirSync(at).length === 0)
        rmSync(at, { recursive: true })
    }
    return true
  }

  #moveToTrash(path: string, name: string): void {
    mkdirSync(this.#trash, { recursive: true, mode: 0o700 })
    renameSync(path, join(this.#trash, name))
    this.#removed += 1
  }
}
