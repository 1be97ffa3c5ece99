// The calls of a project that only our own front ends use, and the watch of its folder.
import * as engine from '../engine/index.js'
import type { ProjectContext } from '../engine/index.js'
import type { Project } from '../model/index.js'
import type { Activity } from '../snapshot/index.js'
import { type CallOptions, splitOptions } from './call-options.js'
import type { Calls } from './opening/open-context.js'
import type { Watch } from './project-types.js'

type Context = ProjectContext & Calls

/** `project.internals`, which the published types leave out. */
export class ProjectInternals {
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  /** Where the checkpoints of the project may be if it has none of its own. */
  async origin(): Promise<engine.ProjectOrigin> {
    return this.#context.calls.run(() => engine.findProjectOrigin(this.#context))
  }

  /**
   * For a folder inside, by its absolute path: the project that saves it, either this one or a repository that this one
   * ignores.
   */
  async locate(folder: string): Promise<engine.LocatedFolder> {
    return this.#context.calls.run(() => engine.locateFolder(this.#context, folder))
  }

  /** Ends the watch and frees the memory; the next save reads the stat cache. False while another call uses the project. */
  async unload(): Promise<boolean> {
    const isGone = await ifKnown(this.#context, async (project) => {
      let isUnloaded = false
      await engine.tryWithProjectLock(this.#context, project, {
        purpose: 'unload',
        work: async () => {
          await this.#context.snapshots.unload(project)
          isUnloaded = true
        },
      })
      return isUnloaded
    })
    return isGone ?? true
  }

  /** Events of a watched project since the last save; undefined if it is not watched, or not yet. */
  async activity(): Promise<Activity | undefined> {
    return ifKnown(this.#context, (project) => this.#context.snapshots.activity(project))
  }

  /**
   * Makes the next save of a watched project scan all of it, as one does every two minutes: some writes cause no event,
   * such as those through a mapped page.
   */
  async lookAtAll(): Promise<void> {
    await ifKnown(this.#context, (project) => this.#context.snapshots.lookAtAll(project))
  }

  /** The shortest prefix of each id that identifies one checkpoint of the store. */
  async shortIds(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#context.calls.run(() => engine.shortIds(this.#context, ids))
  }

  /** One file of the folder as it is now, unless a checkpoint would leave it out; `since` is a checkpoint. */
  async fileNow(path: string, options: { readonly since: string }): Promise<engine.FileNow> {
    return this.#perform('fileNow', engine.fileNow, options, { path })
  }

  /** The checkpoint that `rewind` would go to, by its id, which does not change meanwhile as a number may. */
  async target(
    ref: string,
    options: CallOptions & { readonly before?: boolean } = {},
  ): Promise<engine.FoundTarget> {
    return this.#perform('target', engine.findTarget, options, { to: ref })
  }

  /** Trusts files of the project as `config().untrusted` listed them. Only the user may decide this. */
  async trustFiles(files: readonly engine.SeenFile[]): Promise<void> {
    const { calls, home, path } = this.#context
    return calls.run(() => engine.trustFiles(home, path, files))
  }

  #perform<Result>(
    call: string,
    operation: engine.AnyOperation<ProjectContext, Result>,
    options: object,
    identity: object,
  ): Promise<Result> {
    const split = splitOptions(call, options, { identity })
    return this.#context.calls.perform(operation, this.#context, split)
  }
}

export function watch(context: Context): Watch {
  context.calls.refuseClosed()
  context.snapshots.watch(context.path)
  const close = () => unwatch(context)
  return { close, [Symbol.asyncDispose]: close }
}

export async function unwatch(context: Context): Promise<void> {
  await ifKnown(context, (project) => context.snapshots.unwatch(project))
}

/** Nothing happens to a project without a row in the ledger. */
function ifKnown<Result>(
  context: Context,
  work: (project: Project) => Promise<Result>,
): Promise<Result | undefined> {
  return context.calls.during(async () => {
    const project = engine.findKnownProject(context)
    return project === undefined ? undefined : work(project)
  })
}
