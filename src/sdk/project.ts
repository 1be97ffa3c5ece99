// A folder under checkpoints.
import * as engine from '../engine/index.js'
import type { ProjectContext } from '../engine/index.js'
import {
  type NamedBy,
  pathText,
  type Project as KnownProject,
  SavestateError,
} from '../model/index.js'
import { refuseNoList } from './opening/validate-options.js'
import type { Calls } from './opening/open-context.js'
import { type CallOptions, type RestoreOptions, splitOptions } from './call-options.js'
import { iteratePages } from './pages.js'
import { ProjectInternals, unwatch, watch } from './project-internals.js'
import type {
  BisectOptions,
  BlameOptions,
  CommitsOptions,
  DiffOptions,
  DropOptions,
  HistoryOptions,
  OpenOptions,
  PatchOptions,
  PlanOptions,
  ProjectRewindOptions,
  ProjectSaveOptions,
  SearchOptions,
  UndoStepsOptions,
  Watch,
} from './project-types.js'
import type { ListQuery, ScopeQuery } from './store-types.js'

/** A folder under checkpoints. Made by `store.project` and `store.projectFor`. */
export class Project {
  readonly #context: ProjectContext & Calls
  /** Calls of our own front ends. @internal */
  readonly internals: ProjectInternals

  private constructor(context: ProjectContext & Calls) {
    this.#context = context
    this.internals = new ProjectInternals(context)
  }

  /** @internal */
  static make(context: ProjectContext & Calls): Project {
    return new Project(context)
  }

  /** The real path of the folder. */
  get path(): string {
    return pathText(this.#context.path)
  }

  /** Watches the folder: from the second save on, a save scans only what was touched since the one before. */
  watch(): Watch {
    return watch(this.#context)
  }

  /** Ends the watch. */
  async unwatch(): Promise<void> {
    await unwatch(this.#context)
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

  /** Adds a checkpoint of the folder, unless nothing has changed since the newest one. */
  async save(options: ProjectSaveOptions = {}): Promise<engine.SaveResult> {
    return this.#perform('save', engine.save, options)
  }

  /** The checkpoints of the project, newest first. */
  async list(query: ListQuery = {}): Promise<readonly engine.CheckpointView[]> {
    const { checkpoints } = await this.#perform('list', engine.list, query)
    return checkpoints
  }

  /** The same, a page at a time. */
  iterate(query: ListQuery = {}): AsyncGenerator<engine.CheckpointView, void> {
    return iteratePages(query, (page) => this.#perform('iterate', engine.list, page))
  }

  /** How many checkpoints match. */
  async count(query: ScopeQuery = {}): Promise<number> {
    return this.#perform('count', engine.count, query)
  }

  /** One checkpoint with everything that is known about it. Throws CHECKPOINT_UNKNOWN. */
  async show(ref: string, options: CallOptions = {}): Promise<engine.CheckpointDetails> {
    return this.#perform('show', engine.show, options, { ref })
  }

  /** One file as a checkpoint holds it; `path` is relative to the project. */
  async file(ref: string, path: string, options: CallOptions = {}): Promise<engine.FileResult> {
    return this.#perform('file', engine.file, options, { ref, path })
  }

  /** One folder of a checkpoint, without the contents of its files; '' is the project. */
  async folder(
    ref: string,
    path: string,
    options: CallOptions = {},
  ): Promise<engine.FolderListing> {
    return this.#perform('folder', engine.folder, options, { ref, path })
  }

  /** Compares a checkpoint with the folder as it is now, with another one (`to`), or with the one before it (`previous`). */
  async diff(ref: string, options: DiffOptions = {}): Promise<engine.DiffResult> {
    refuseNoList('diff', 'paths', options?.paths)
    return this.#perform('diff', engine.diff, options, { from: ref })
  }

  /** The changes of one file. Compares as `diff` does, and scans the folder only without `to` and `previous`. */
  async patch(ref: string, options: PatchOptions): Promise<engine.FilePatch> {
    return this.#perform('patch', engine.filePatch, options, { from: ref })
  }

  /** Checkpoints with all of these words in names, reasons, prompts, answers, arguments of tool calls or changed paths; 20 if `limit` is left out. */
  async search(words: string, options: SearchOptions = {}): Promise<engine.SearchResult> {
    return this.#perform('search', engine.search, options, { words })
  }

  /** Checkpoints that changed one of these files or folders, newest first. Costs one comparison per checkpoint. */
  async history(
    paths: readonly string[],
    options: HistoryOptions = {},
  ): Promise<engine.HistoryResult> {
    if (paths !== undefined) refuseNoList('history', 'paths', paths)
    return this.#perform('history', engine.history, options, { paths })
  }

  /**
   * Turns the checkpoints after A, up to and including B (`A..B`), into commits that `git am` or `git fetch` takes. Writes nothing to the
   * repository of the user.
   */
  async commits(range: string, options: CommitsOptions = {}): Promise<engine.CommitsResult> {
    return this.#perform('commits', engine.commits, options, { range })
  }

  /** Notes for the user's commits that contain recorded steps of this range; null for all. Writes nothing to their repository. */
  async notes(range: string | null, options: CallOptions = {}): Promise<engine.NotesResult> {
    return this.#perform('notes', engine.notes, options, { range })
  }

  /** The checkpoint, author, prompt and tool call of each line of a file, as it is now; `path` is relative to the project. */
  async blame(path: string, options: BlameOptions = {}): Promise<engine.BlameResult> {
    return this.#perform('blame', engine.blame, options, { path })
  }

  /** Brings the files back to a checkpoint. Their current contents are saved first, so `undo` brings them back. */
  async rewind(ref: string, options: ProjectRewindOptions = {}): Promise<engine.RewindResult> {
    refuseNoList('rewind', 'paths', options?.paths)
    return this.#perform('rewind', engine.rewind, options, { to: ref }, 'confirm')
  }

  /** Takes back the last rewind that was not undone. Throws NOTHING_TO_UNDO. */
  async undo(options: RestoreOptions = {}): Promise<engine.RewindResult> {
    return this.#perform('undo', engine.undo, options, {}, 'confirm')
  }

  /**
   * Takes back what these checkpoints changed and keeps everything later. A reference may be a range `A..B`: the checkpoints after
   * A, up to and including B. Where later changes touch the same lines, `conflict` decides. `undo` reverts it.
   */
  async undoSteps(
    refs: readonly string[],
    options: UndoStepsOptions = {},
  ): Promise<engine.RewindResult> {
    refuseNoList('undoSteps', 'refs', refs)
    return this.#perform('undoSteps', engine.undoSteps, options, { refs }, 'confirm')
  }

  /** Repeats the rewind that was undone last. Throws NOTHING_TO_REDO. */
  async redo(options: RestoreOptions = {}): Promise<engine.RewindResult> {
    return this.#perform('redo', engine.redo, options, {}, 'confirm')
  }

  /** The rewinds that `undo` and `redo` would act on. */
  async reversals(options: CallOptions = {}): Promise<engine.Reversals> {
    return this.#perform('reversals', engine.reversals, options)
  }

  /** Files that rewinds, undos and redos have brought back since one of them (null: since ever), by its id. @internal */
  async reverted(
    options: CallOptions & { readonly since?: string | null } = {},
  ): Promise<engine.RevertedResult> {
    return this.#perform('reverted', engine.reverted, options)
  }

  /** Writes a checkpoint into another folder. The project stays as it is, and the folder becomes no project. */
  async open(ref: string, options: OpenOptions = {}): Promise<engine.OpenResult> {
    return this.#perform('open', engine.open, options, { ref })
  }

  /** Compares two attempts: sessions, such as forks in folders of their own, or checkpoints. */
  async compare(a: string, b: string, options: CallOptions = {}): Promise<engine.CompareResult> {
    return this.#perform('compare', engine.compare, options, { a, b })
  }

  /** Brings the newest files of a fork (`store.fork` with `into`) into this project: a rewind, which `undo` takes back. */
  async adopt(fork: string, options: RestoreOptions = {}): Promise<engine.AdoptResult> {
    return this.#perform('adopt', engine.adopt, options, { fork }, 'confirm')
  }

  /** Finds the checkpoint since which a check fails: a binary search in copies of checkpoints. Throws BISECT_ENDS. */
  async bisect(options: BisectOptions): Promise<engine.BisectResult> {
    return this.#perform('bisect', engine.bisect, options)
  }

  /** The newest checkpoint whose test command succeeded, as a coding agent reported it. Throws CHECKPOINT_UNKNOWN. */
  async lastGreen(options: CallOptions = {}): Promise<engine.CheckpointView> {
    return this.#perform('lastGreen', engine.lastGreen, options)
  }

  /** Keeps a checkpoint from every prune. */
  async pin(ref: string): Promise<engine.CheckpointView> {
    return this.#perform('pin', engine.pin, {}, { ref })
  }

  /** Lets prunes remove a checkpoint again. */
  async unpin(ref: string): Promise<engine.CheckpointView> {
    return this.#perform('unpin', engine.unpin, {}, { ref })
  }

  /** Names a checkpoint; null removes its name. */
  async name(
    ref: string,
    name: string | null,
    options: { readonly namedBy?: NamedBy } = {},
  ): Promise<engine.NameResult> {
    return this.#perform('name', engine.name, options, { ref, name })
  }

  /** Removes a path, relative to the project, from every checkpoint, and its contents from the store. */
  async forget(path: string, options: PlanOptions = {}): Promise<engine.ForgetResult> {
    return this.#perform('forget', engine.forget, options, { path })
  }

  /** Removes single checkpoints; with `of` the references are those of that session. Throws CHECKPOINT_KEPT. */
  async drop(refs: readonly string[], options: DropOptions = {}): Promise<engine.DropResult> {
    refuseNoList('drop', 'refs', refs)
    return this.#perform('drop', engine.drop, options, { refs })
  }

  /** Removes all checkpoints and sessions of the project from the store. The folder stays as it is. */
  async clear(options: PlanOptions = {}): Promise<engine.ClearResult> {
    return this.#perform('clear', engine.clearProject, options)
  }

  /** Every setting of the project, and the file that sets it. */
  async config(): Promise<engine.ConfigResult> {
    return this.#perform('config', engine.config, {})
  }

  /** Changes a setting in the project's .savestate.json; without a value it is removed. Throws BAD_INPUT. */
  async setConfig(key: string, value?: unknown): Promise<void> {
    return this.#context.calls.run(() => engine.setProjectConfig(this.#context, { key, value }))
  }

  #perform<Result>(
    call: string,
    operation: engine.AnyOperation<ProjectContext, Result>,
    options: object,
    identity: object = {},
    asks?: 'confirm',
  ): Promise<Result> {
    const split = splitOptions(call, options, { identity, asks })
    return this.#context.calls.perform(operation, this.#context, split)
  }
}
