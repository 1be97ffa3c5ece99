// A folder under checkpoints.
import * as engine from '../engine/index.js'
import type { Hooks, ProjectContext } from '../engine/index.js'
import type { Activity } from '../snapshot/index.js'
import {
  type NamedBy,
  pathText,
  type Project as KnownProject,
  SavestateError,
} from '../model/index.js'
import { explained } from './opening/with-system-errors.js'
import { refuseNoList } from './opening/validate-options.js'
import type { Calls } from './opening/open-context.js'
import type { DiffInput, DropInput, RewindInput } from './project-types.js'

export type { DiffInput, DropInput, RewindInput } from './project-types.js'

/** A folder under checkpoints. Made by `store.project` and `store.projectFor`. */
export class Project {
  readonly #context: ProjectContext & Calls

  /** Use `store.project`. */
  constructor(context: ProjectContext & Calls) {
    this.#context = context
  }

  get path(): string {
    return pathText(this.#context.path)
  }

  /** Where its checkpoints may be if it has none of its own. */
  async origin(): Promise<engine.ProjectOrigin> {
    return this.#do(() => engine.projectOrigin(this.#context))
  }

  /**
   * For a folder inside, by its absolute path: the project that saves it, either this one or a repository that this one
   * ignores.
   */
  async locate(folder: string): Promise<engine.LocatedFolder> {
    return this.#do(() => engine.locateFolder(this.#context, folder))
  }

  /** Saves look only at what was touched since the one before, beginning with the next but one. */
  watch(): void {
    this.#context.calls.refuseClosed()
    this.#context.snapshots.watch(this.#context.path)
  }

  async unwatch(): Promise<void> {
    await this.#context.calls.during(async () => {
      const project = engine.knownProject(this.#context)
      if (project !== undefined) await this.#context.snapshots.unwatch(project)
    })
  }

  /** Ends the watch and gives back the memory; the next save reads the stat cache. False while somebody is at work on it. */
  async letGo(): Promise<boolean> {
    return this.#context.calls.during(async () => {
      const project = engine.knownProject(this.#context)
      if (project === undefined) return true
      let isGone = false
      await engine.ifProjectIsFree(this.#context, project, {
        purpose: 'let go',
        work: async () => {
          await this.#context.snapshots.letGo(project)
          isGone = true
        },
      })
      return isGone
    })
  }

  /** What happened in a watched project since the last save; undefined of one that is not watched, or not yet. */
  async activity(): Promise<Activity | undefined> {
    return this.#context.calls.during(async () => {
      const project = engine.knownProject(this.#context)
      return project === undefined ? undefined : this.#context.snapshots.activity(project)
    })
  }

  /**
   * Looks at all of a watched project, as happens every two minutes by itself: the next save holds what no event told
   * of, such as writes through a mapped page.
   */
  async lookAtAll(): Promise<void> {
    await this.#context.calls.during(async () => {
      const project = engine.knownProject(this.#context)
      if (project !== undefined) await this.#context.snapshots.lookAtAll(project)
    })
  }

  /** For a session of this project: its row in the ledger, which is added if there is none. @internal */
  static known(project: Project): KnownProject {
    if (!(project instanceof Project)) {
      throw new SavestateError('BAD_INPUT', 'The project of a session is not a path', {
        hint: 'Open it with store.project(path) and pass the result.',
      })
    }
    return engine.ensureProject(project.#context)
  }

  async save(
    input: {
      readonly reason?: string
      readonly name?: string
      /** `agent`: the name must be harmless, and none that the user gave here. Default: `user`. */
      readonly namedBy?: NamedBy
      /** Who has changed the folder since it was last looked at, if it was not the person (`you`). */
      readonly author?: string
    } = {},
    hooks?: Hooks,
  ): Promise<engine.SaveResult> {
    return this.#perform(engine.save, input, hooks)
  }

  async list(input: { readonly limit?: number } = {}, hooks?: Hooks): Promise<engine.ListResult> {
    return this.#perform(engine.list, input, hooks)
  }

  /** The shortest prefix of each id that identifies one checkpoint of the store. */
  async shortIds(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#do(() => engine.shortIds(this.#context, ids))
  }

  async show(ref: string, hooks?: Hooks): Promise<engine.CheckpointDetails> {
    return this.#perform(engine.show, { ref }, hooks)
  }

  /** One file as a checkpoint holds it; `path` is relative to the project. */
  async file(ref: string, path: string, hooks?: Hooks): Promise<engine.FileResult> {
    return this.#perform(engine.file, { ref, path }, hooks)
  }

  async diff(input: DiffInput, hooks?: Hooks): Promise<engine.DiffResult> {
    const { paths = [] }: Partial<DiffInput> = input ?? {}
    refuseNoList('diff', 'paths', paths)
    return this.#perform(engine.diff, { ...input, paths: [...paths] }, hooks)
  }

  /** Checkpoints with all of these words in their names, reasons, prompts or changed paths. */
  async search(
    input: { readonly words: string; readonly limit?: number },
    hooks?: Hooks,
  ): Promise<engine.SearchResult> {
    return this.#perform(engine.search, input, hooks)
  }

  /** Checkpoints that changed one of these files or folders, newest first. Costs one comparison per checkpoint. */
  async history(
    input: { readonly paths: readonly string[]; readonly limit?: number },
    hooks?: Hooks,
  ): Promise<engine.HistoryResult> {
    const { paths }: Partial<typeof input> = input ?? {}
    if (paths !== undefined) refuseNoList('history', 'paths', paths)
    return this.#perform(engine.history, { ...input }, hooks)
  }

  /** The checkpoint that `rewind` would go to, by its id, which does not change meanwhile as a number may. */
  async target(
    input: { readonly to: string; readonly before?: boolean },
    hooks?: Hooks,
  ): Promise<engine.FoundTarget> {
    return this.#perform(engine.findTarget, input, hooks)
  }

  async rewind(input: RewindInput, hooks?: Hooks): Promise<engine.RewindResult> {
    const { paths = [] }: Partial<RewindInput> = input ?? {}
    refuseNoList('rewind', 'paths', paths)
    return this.#perform(engine.rewind, { ...input, paths: [...paths] }, hooks)
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

  /** Files that rewinds, undos and redos have brought back since one of them (null: since ever), by its id. */
  async reverted(
    input: { readonly since?: string | null } = {},
    hooks?: Hooks,
  ): Promise<engine.RevertedResult> {
    return this.#perform(engine.reverted, input, hooks)
  }

  async pin(ref: string): Promise<engine.CheckpointView> {
    return this.#perform(engine.pin, { ref })
  }

  async unpin(ref: string): Promise<engine.CheckpointView> {
    return this.#perform(engine.unpin, { ref })
  }

  /** Null takes the name off. */
  async name(
    ref: string,
    name: string | null,
    options: { readonly namedBy?: NamedBy } = {},
  ): Promise<engine.NameResult> {
    return this.#perform(engine.name, { ref, name, ...options })
  }

  /** Removes a path, relative to the project, from every checkpoint, and its contents from the store. */
  async forget(
    path: string,
    options: { readonly dryRun?: boolean } = {},
    hooks?: Hooks,
  ): Promise<engine.ForgetResult> {
    return this.#perform(engine.forget, { path, ...options }, hooks)
  }

  /** Removes single checkpoints; with `of` the references are those of that session. Throws CHECKPOINT_KEPT. */
  async drop(input: DropInput, hooks?: Hooks): Promise<engine.DropResult> {
    const { refs }: Partial<DropInput> = input ?? {}
    refuseNoList('drop', 'refs', refs ?? [])
    return this.#perform(engine.drop, { ...input, refs: [...(refs ?? [])] }, hooks)
  }

  /** Removes all checkpoints and sessions of the project from the store. The folder stays as it is. */
  async clear(
    input: { readonly dryRun?: boolean } = {},
    hooks?: Hooks,
  ): Promise<engine.ClearResult> {
    return this.#perform(engine.clearProject, input, hooks)
  }

  /** Every setting of the project, and the file that sets it. */
  async config(): Promise<engine.ConfigResult> {
    return this.#perform(engine.config, {})
  }

  /** Changes a setting in the project's .savestate.json; without a value it is removed. Throws BAD_INPUT. */
  async setConfig(key: string, value?: unknown): Promise<void> {
    const { calls } = this.#context
    return calls.during(() =>
      explained(() => engine.setProjectConfig(this.#context, { key, value })),
    )
  }

  /** Lets files of the project count as they were seen in `config().untrusted`. Only the user decides this. */
  async trustFiles(files: readonly engine.SeenFile[]): Promise<void> {
    const { calls, home, path } = this.#context
    return calls.during(() => explained(() => engine.trustFiles(home, path, files)))
  }

  #do<Result>(work: () => Result): Promise<Result> {
    return this.#context.calls.during(() => explained(async () => work()))
  }

  #perform<Result>(
    operation:
      | engine.OperationOf<ProjectContext, unknown, Result>
      | engine.Later<ProjectContext, Result>,
    input: unknown,
    hooks?: Hooks,
  ): Promise<Result> {
    const { calls } = this.#context
    return calls.during(() =>
      engine.perform(operation, this.#context, { input, hooks: calls.hooksOf(hooks) }),
    )
  }
}
