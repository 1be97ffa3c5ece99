// A random sequence of operations on one project, compared after each step with a model that shares no code with the
// program: the folder is read directly, checkpoints are read by git.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Project, Store, StoreOptions } from '../../src/index.js'
import { seededRandom, type Random } from '../../bench/trees/random.js'
import { checkRestored, checkSaved, differences, isBusy, type Saved } from './checks.js'
import { type Disk, isInside, readCheckpoint, readDisk, type Item } from './disk.js'
import {
  applyEdit,
  BUSY,
  busyEdit,
  GIT_ENVIRONMENT,
  randomEdit,
  randomGit,
  randomRules,
} from './edits.js'
import type { Editor } from './editor.js'
import { parsePathText } from '../../src/model/index.js'

type Sdk = Pick<typeof import('../../src/index.js'), 'openStore'>

export type SequenceOptions = {
  readonly sdk: Sdk
  /** An empty folder for the project and the store. */
  readonly folder: string
  readonly seed: number
  readonly editor: Editor
}

/** The last rewind, undo or redo, if nothing has happened since. */
type LastRestore = {
  readonly kind: 'rewind' | 'undo' | 'redo'
  readonly before: Disk
  /**
   * Always true for a rewind. An undo or redo of older work goes to the folder before or after that rewind, and the next
   * redo or undo does too: edits made in between are in the safety checkpoint only.
   */
  readonly isReversible: boolean
}

const NAMES = ['works', 'release', 'before lunch']
const SMALL_LIMIT_BYTES = 2000
const LARGE_LIMIT_BYTES = 100_000
/** Few enough for a prune to have something to do. */
const MAX_CHECKPOINTS = 12
const MAX_BUSY_EDITS = 200

export class Sequence {
  readonly counts = new Map<string, number>()
  readonly faults: string[] = []
  readonly #options: SequenceOptions
  readonly #random: Random
  readonly #path: string
  readonly #home: string
  readonly #saved = new Map<string, Saved>()
  readonly #pinned = new Set<string>()
  readonly #named = new Map<string, string>()
  #store: Store | undefined
  #project: Project | undefined
  #last: LastRestore | undefined
  #step = 0

  constructor(options: SequenceOptions) {
    this.#options = options
    this.#random = seededRandom(options.seed)
    this.#path = join(options.folder, 'project')
    this.#home = join(options.folder, 'home')
  }

  async start(): Promise<void> {
    mkdirSync(join(this.#path, BUSY), { recursive: true })
    mkdirSync(this.#home, { mode: 0o700 })
    const config = { retention: 'hermes', maxCheckpoints: MAX_CHECKPOINTS, autoPrune: false }
    writeFileSync(join(this.#home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
    for (const args of [
      ['init', '-q', '-b', 'main'],
      ['commit', '-qm', 'c', '--allow-empty'],
      ['branch', 'release'],
    ])
      execFileSync('git', ['-C', this.#path, ...args], { stdio: 'pipe', env: GIT_ENVIRONMENT })
    await this.#open()
    await this.#save()
  }

  async step(): Promise<void> {
    this.#step += 1
    const random = this.#random
    const choice = random.below(100)
    // An undo directly after a rewind is the most important guarantee.
    if (this.#last !== undefined && random.below(3) === 0)
      await this.#undoOrRedo(random.below(4) > 0)
    else if (choice < 50) await this.#edit()
    else if (choice < 56) this.#change(() => applyEdit(this.#path, randomRules(random)))
    else if (choice < 62) this.#change(() => applyEdit(this.#path, randomGit(random)))
    else if (choice < 76) await this.#save()
    else if (choice < 90) await this.#rewind()
    else if (choice < 92) await this.#undoOrRedo(random.below(3) > 0)
    else if (choice < 94) await this.#mark()
    else if (choice < 96) await this.#prune()
    else if (choice < 97) await this.#forget()
    else if (choice < 98) await this.#verify()
    else await this.#open()
  }

  /** Rewinds to every remaining checkpoint. */
  async finish(): Promise<void> {
    // Rewinds add checkpoints.
    const ids = [...this.#saved.keys()]
    for (const id of ids) if (this.faults.length === 0) await this.#rewindTo(id, {})
    await this.#verify()
    await this.#store?.close()
  }

  #theProject(): Project {
    if (this.#project === undefined) throw new Error('The store is not open')
    return this.#project
  }

  /** Reopens the store, sometimes with another file size limit, so that the rules change over time. */
  async #open(): Promise<void> {
    this.#count('open')
    await this.#store?.close()
    const maxFileBytes = this.#random.pick([SMALL_LIMIT_BYTES, LARGE_LIMIT_BYTES])
    const options = {
      home: this.#home,
      durability: 'process',
      inProcess: true,
      limits: { maxFileBytes },
    }
    this.#store = await this.#options.sdk.openStore(options as StoreOptions)
    this.#project = await this.#store.project(this.#path)
  }

  async #edit(): Promise<void> {
    const edits = [randomEdit(this.#random)]
    this.#count('edit')
    this.#last = undefined
    if (this.#random.below(4) === 0) await this.#options.editor.apply(this.#path, edits)
    else for (const edit of edits) applyEdit(this.#path, edit)
  }

  #change(work: () => void): void {
    this.#count('rules and branches')
    this.#last = undefined
    work()
  }

  /** Runs the work, one time in four with a second process that writes to the busy folder. */
  async #beside<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#random.below(4) > 0) return work()
    this.#count('beside an editor')
    const edits = Array.from({ length: this.#random.below(MAX_BUSY_EDITS) }, () =>
      busyEdit(this.#random),
    )
    const edited = this.#options.editor.apply(this.#path, edits)
    try {
      return await work()
    } finally {
      await edited
    }
  }

  async #save(): Promise<void> {
    this.#count('save')
    const author = this.#random.below(2) === 0 ? 'coder' : 'you'
    const everything = readDisk(this.#path)
    const { id, created } = await this.#beside(() => this.#theProject().save({ author }))
    this.#last = undefined
    if (!created && !this.#saved.has(id)) this.#fault(`save returned ${id}, which is unknown`)
    if (created) await this.#note(id, everything)
    else
      for (const fault of checkSaved(everything, await this.#blobsOf(id)))
        this.#fault(`${id}, found unchanged, ${fault}`)
  }

  async #note(id: string, everything: Disk): Promise<Saved> {
    const known = this.#saved.get(id)
    if (known !== undefined) return known
    const blobs = await this.#blobsOf(id)
    for (const fault of checkSaved(everything, blobs)) this.#fault(`${id} ${fault}`)
    const held = new Map<string, Item>()
    for (const [path, item] of everything) if (blobs.has(path)) held.set(path, item)
    const saved = { everything, held }
    this.#saved.set(id, saved)
    return saved
  }

  async #blobsOf(id: string): Promise<ReadonlyMap<string, string>> {
    const { commit } = await this.#theProject().show(id)
    if (commit === null) throw new Error(`${id} has no files`)
    return readCheckpoint(this.#home, commit)
  }

  async #rewind(): Promise<void> {
    const ids = [...this.#saved.keys()]
    const random = this.#random
    const id = random.pick(ids)
    const held = [...(this.#saved.get(id)?.held.keys() ?? [])].filter((path) => !isBusy(path))
    const paths = random.below(4) === 0 && held.length > 0 ? [random.pick(held)] : undefined
    await this.#rewindTo(id, { paths, keepMine: random.below(5) === 0 })
  }

  async #rewindTo(
    id: string,
    {
      paths,
      keepMine = false,
    }: { readonly paths?: readonly string[] | undefined; readonly keepMine?: boolean },
  ): Promise<void> {
    const target = this.#saved.get(id)
    if (target === undefined) throw new Error(`${id} is not in the model`)
    const project = this.#theProject()
    const texts = paths?.map((path) => JSON.stringify(path))
    const input = {
      keepMine,
      ...(paths === undefined ? {} : { paths: paths.map(pathText) }),
    }
    await this.#restore('rewind', {
      describe: `rewind to ${id}${texts === undefined ? '' : ` of ${texts.join()}`}${keepMine ? ' keeping mine' : ''}`,
      run: () => project.rewind(id, input),
      target,
      paths,
      keepMine,
    })
  }

  async #undoOrRedo(isUndo: boolean): Promise<void> {
    const project = this.#theProject()
    const kind = isUndo ? 'undo' : 'redo'
    const last = this.#last
    const isReversal = isUndo
      ? last?.kind === 'rewind' || last?.kind === 'redo'
      : last?.kind === 'undo'
    const wasPossible = last !== undefined && isReversal && last.isReversible
    await this.#restore(kind, {
      describe: wasPossible ? `${kind} straight after the ${last.kind}` : kind,
      run: () => (isUndo ? project.undo() : project.redo()),
      expected: wasPossible ? last.before : undefined,
    })
  }

  async #restore(
    kind: LastRestore['kind'],
    {
      describe,
      run,
      target,
      paths,
      keepMine = false,
      expected,
    }: {
      readonly describe: string
      readonly run: () => ReturnType<Project['undo']>
      readonly target?: Saved
      readonly paths?: readonly string[] | undefined
      readonly keepMine?: boolean
      /** The expected folder afterwards, if it is known. */
      readonly expected?: Disk | undefined
    },
  ): Promise<void> {
    this.#count(expected === undefined ? kind : `${kind} straight after`)
    const before = readDisk(this.#path)
    const mine = keepMine ? await this.#changedSinceLastSave(before) : []
    let result: Awaited<ReturnType<typeof run>>
    this.#last = undefined
    try {
      result = await this.#beside(run)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      this.#count(code)
      // The second process may change a file at each attempt to read it, which the program must not overwrite then.
      const isRace = code === 'REWIND_CONFLICT' && String(error).includes(`: ${BUSY}/`)
      const isAllowed =
        isRace ||
        code === 'REWIND_DISTURBED' ||
        (expected === undefined &&
          ['REWIND_CONFLICT', 'NOTHING_TO_UNDO', 'NOTHING_TO_REDO'].includes(code))
      if (!isAllowed) this.#fault(`${describe} failed: ${String(error)}`)
      const changed = differences(before, readDisk(this.#path))
      if (changed.length > 0)
        this.#fault(`${describe} failed and left ${changed.join(', ')} changed`)
      return
    }
    const after = readDisk(this.#path)
    if (expected !== undefined)
      for (const path of differences(expected, after))
        this.#fault(`${describe} left ${path} different`)
    // Only lines of the user stay: a rewind before may have brought back the others.
    for (const path of mine)
      if (after.get(path)?.type !== 'file') this.#fault(`${describe} removed ${path}`)
    if (!result.applied) {
      const changed = differences(before, after)
      if (changed.length > 0)
        this.#fault(`${describe} did nothing, and ${changed.join(', ')} changed`)
      return
    }
    if (result.safety === null || result.checkpoint === null) {
      this.#fault(`${describe} names no checkpoint of before or after`)
      return
    }
    const safety = await this.#note(result.safety, before)
    await this.#note(result.checkpoint, after)
    // An undo restores the folder before the rewind, which the model knows only directly after it.
    const goal = target ?? { everything: after, held: after }
    const kept = result.plan.keep.map(({ path }) => parsePathText(path))
    for (const fault of checkRestored({
      before,
      after,
      target: goal,
      safety,
      kept,
      paths,
      keepMine,
    }))
      this.#fault(`${describe} ${fault}`)
    this.#last = { kind, before, isReversible: kind === 'rewind' || expected !== undefined }
  }

  /** Paths that no rule excludes and that differ from the newest checkpoint: the changes of the user. */
  async #changedSinceLastSave(disk: Disk): Promise<readonly string[]> {
    const checkpoints = await this.#theProject().list({ limit: 1 })
    const newest = this.#saved.get(checkpoints[0]?.id ?? '')
    if (newest === undefined) return []
    return [...disk].flatMap(([path, item]) => {
      const isFile = item.type === 'file' && !isBusy(path)
      const then = newest.held.get(path)
      return isFile && then?.type === 'file' && then.id !== item.id ? [path] : []
    })
  }

  async #mark(): Promise<void> {
    const id = this.#random.pick([...this.#saved.keys()])
    const project = this.#theProject()
    if (this.#random.below(2) === 0) {
      this.#count('name')
      const name = this.#random.pick(NAMES)
      await project.name(id, name)
      this.#named.set(id, name)
    } else if (this.#pinned.has(id)) {
      this.#count('unpin')
      await project.unpin(id)
      this.#pinned.delete(id)
    } else if (this.#pinned.size < MAX_CHECKPOINTS / 2) {
      this.#count('pin')
      await project.pin(id)
      this.#pinned.add(id)
    }
  }

  async #prune(): Promise<void> {
    this.#count('prune')
    // A prune never drops named checkpoints: remove some names, so that there is something to prune.
    for (const id of this.#named.keys()) {
      if (this.#random.below(2) === 0) continue
      await this.#theProject().name(id, null)
      this.#named.delete(id)
    }
    const before = await this.#ids()
    await this.#store?.prune()
    const left = new Set(await this.#ids())
    for (const id of [...this.#pinned, ...this.#named.keys(), ...before.slice(0, 1)])
      if (!left.has(id)) this.#fault(`prune removed ${id}, which is pinned, named or the newest`)
    for (const id of left) if (!before.includes(id)) this.#fault(`prune added ${id}`)
    for (const id of this.#saved.keys()) if (!left.has(id)) this.#saved.delete(id)
    this.#last = undefined
  }

  async #forget(): Promise<void> {
    const holders = [...this.#saved.values()]
    const held = [...this.#random.pick(holders).held.keys()].filter((path) => !isBusy(path))
    if (held.length === 0) return
    this.#count('forget')
    const path = this.#random.pick(held)
    await this.#theProject().forget(pathText(path))
    for (const [id, { everything, held: all }] of this.#saved) {
      const isLeft = (each: string) => !isInside(each, path)
      const keep = (disk: ReadonlyMap<string, Item>) =>
        new Map([...disk].filter(([each]) => isLeft(each)))
      this.#saved.set(id, { everything: keep(everything), held: keep(all) })
      for (const each of (await this.#blobsOf(id)).keys())
        if (!isLeft(each)) this.#fault(`${id} still holds ${each}, which was forgotten`)
    }
    this.#last = undefined
  }

  async #verify(): Promise<void> {
    this.#count('verify')
    const { problems = [] } = (await this.#store?.verify()) ?? {}
    for (const { kind, message } of problems) this.#fault(`verify: ${kind}: ${message}`)
  }

  async #ids(): Promise<readonly string[]> {
    const checkpoints = await this.#theProject().list({ limit: 100_000 })
    return checkpoints.map(({ id }) => id)
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  #fault(text: string): void {
    this.faults.push(`step ${this.#step}: ${text}`)
  }
}

/** The SDK writes a byte that is no UTF-8 as a backslash and three octal digits within quotes. */
function pathText(path: string): string {
  return path.includes('\xff') ? `"${path.replaceAll('\xff', '\\377')}"` : path
}
