// The SDK: the only thing a face may import.
import { homedir } from 'node:os'
import { join } from 'node:path'
import * as engine from './engine/index.js'
import type { Hooks, ProjectContext, StoreContext } from './engine/index.js'
import { Ledger } from './ledger/index.js'
import {
  type BytePath,
  DEFAULT_LIMITS,
  explainSystemError,
  type Durability,
  type Limits,
  pathText,
} from './model/index.js'
import { isUnsafeFolder, refuseUnsafeFolder, Snapshots } from './snapshot/index.js'
import { type Clock, systemClock } from './system/index.js'
import { bytePath } from './model/index.js'

export type {
  ChangeView,
  CheckpointDetails,
  CheckpointView,
  DiffResult,
  Effect,
  Hooks,
  ListAllResult,
  ListResult,
  PlanItem,
  PlanView,
  Problem,
  Progress,
  RewindResult,
  SaveResult,
  StatusResult,
  VerifyResult,
} from './engine/index.js'
export {
  type CheckpointKind,
  DEFAULT_EXCLUDES,
  DEFAULT_LIMITS,
  type Durability,
  ERROR_CODES,
  type ErrorCode,
} from './model/index.js'
export {
  type Limits,
  parsePathText,
  pathText,
  printablePath,
  SavestateError,
  SKIP_REASONS,
  type SkipReason,
} from './model/index.js'

export type StoreOptions = {
  /** Where the store is; default: $SAVESTATE_HOME, else ~/.savestate. */
  readonly home?: string
  /** `fsync` (default) survives a power cut, `os` a killed process. */
  readonly durability?: Durability
  readonly limits?: Partial<Limits>
  /** The caller has nothing else to do while it waits: no thread is started to keep its event loop free. */
  readonly mayBlock?: boolean
  /** For tests. */
  readonly clock?: Clock
}

export async function openStore(options: StoreOptions = {}): Promise<Store> {
  try {
    return new Store(await openContext(options))
  } catch (error) {
    throw explainSystemError(error)
  }
}

async function openContext(options: StoreOptions): Promise<StoreContext> {
  const home = engine.openHome(
    options.home ?? process.env['SAVESTATE_HOME'] ?? join(homedir(), '.savestate'),
  )
  const durability = options.durability ?? 'fsync'
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const mayBlock = options.mayBlock ?? false
  const snapshots = new Snapshots({ home, durability, limits, mayBlock })
  if (!mayBlock) snapshots.warmUp()
  try {
    const ledger = Ledger.open(home, { durability })
    await snapshots.prepare()
    return { home, ledger, snapshots, clock: options.clock ?? systemClock }
  } catch (error) {
    await snapshots.close()
    throw error
  }
}

export class Store {
  readonly #context: StoreContext

  /** Use `openStore`. */
  constructor(context: StoreContext) {
    this.#context = context
  }

  get home(): string {
    return this.#context.home
  }

  /** The project of exactly this folder. Throws PROJECT_REFUSED for `/`, a home and the like. */
  async project(path: string): Promise<Project> {
    return this.#projectAt(engine.realFolder(path))
  }

  /** The project that a file or folder belongs to. */
  async projectFor(path: string): Promise<Project> {
    const { ledger, home } = this.#context
    const root = engine.findProjectRoot(path, {
      known: (folder) => ledger.projectAt(folder) !== undefined,
      refused: (folder) => isUnsafeFolder(folder, bytePath(home)),
    })
    return this.#projectAt(root)
  }

  /** The checkpoints of all projects, newest first. */
  async list(
    input: { readonly limit?: number } = {},
    hooks?: Hooks,
  ): Promise<engine.ListAllResult> {
    return engine.perform(engine.listAll, this.#context, { input, hooks })
  }

  async status(hooks?: Hooks): Promise<engine.StatusResult> {
    return engine.perform(engine.status, this.#context, { input: {}, hooks })
  }

  async verify(hooks?: Hooks): Promise<engine.VerifyResult> {
    return engine.perform(engine.verify, this.#context, { input: {}, hooks })
  }

  /** Waits for what is under way; the store can be opened again. */
  async close(): Promise<void> {
    await this.#context.snapshots.close()
    this.#context.ledger.close()
  }

  #projectAt(path: BytePath): Project {
    refuseUnsafeFolder(path, bytePath(this.#context.home))
    const { ledger, snapshots } = this.#context
    if (ledger.projectAt(path) === undefined) snapshots.expectFirstSave()
    return new Project({ ...this.#context, path })
  }
}

export type RewindInput = {
  readonly to: string
  /** Files or folders relative to the project; all of it if left out. */
  readonly paths?: readonly string[]
  readonly dryRun?: boolean
}

export type DiffInput = {
  readonly from: string
  readonly to?: string
  readonly paths?: readonly string[]
  readonly patch?: 'none' | 'full' | 'stat'
  readonly color?: boolean
  readonly width?: number
}

export class Project {
  readonly #context: ProjectContext

  /** Use `store.project`. */
  constructor(context: ProjectContext) {
    this.#context = context
  }

  get path(): string {
    return pathText(this.#context.path)
  }

  async save(
    input: { readonly reason?: string; readonly name?: string } = {},
    hooks?: Hooks,
  ): Promise<engine.SaveResult> {
    return this.#perform(engine.save, input, hooks)
  }

  async list(input: { readonly limit?: number } = {}, hooks?: Hooks): Promise<engine.ListResult> {
    return this.#perform(engine.list, input, hooks)
  }

  async show(ref: string, hooks?: Hooks): Promise<engine.CheckpointDetails> {
    return this.#perform(engine.show, { ref }, hooks)
  }

  async diff(input: DiffInput, hooks?: Hooks): Promise<engine.DiffResult> {
    return this.#perform(engine.diff, { ...input, paths: [...(input.paths ?? [])] }, hooks)
  }

  async rewind(input: RewindInput, hooks?: Hooks): Promise<engine.RewindResult> {
    return this.#perform(engine.rewind, { ...input, paths: [...(input.paths ?? [])] }, hooks)
  }

  async undo(
    input: { readonly dryRun?: boolean } = {},
    hooks?: Hooks,
  ): Promise<engine.RewindResult> {
    return this.#perform(engine.undo, input, hooks)
  }

  async redo(
    input: { readonly dryRun?: boolean } = {},
    hooks?: Hooks,
  ): Promise<engine.RewindResult> {
    return this.#perform(engine.redo, input, hooks)
  }

  async pin(ref: string): Promise<engine.CheckpointView> {
    return this.#perform(engine.pin, { ref })
  }

  async unpin(ref: string): Promise<engine.CheckpointView> {
    return this.#perform(engine.unpin, { ref })
  }

  async name(ref: string, name: string): Promise<engine.CheckpointView> {
    return this.#perform(engine.name, { ref, name })
  }

  #perform<Input, Result>(
    operation: engine.OperationOf<ProjectContext, Input, Result>,
    input: unknown,
    hooks?: Hooks,
  ): Promise<Result> {
    return engine.perform(operation, this.#context, { input, hooks })
  }
}
