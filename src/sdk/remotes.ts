// Remotes: shared places for sessions and their files (docs/guide/handoff.md).
import { resolve } from 'node:path'
import * as engine from '../engine/index.js'
import { splitOptions } from './call-options.js'
import { startPushIfDue } from './maintenance/auto-push.js'
import { withTemporaryStore } from './maintenance/temporary-store.js'
import type { OpenContext } from './opening/open-context.js'
import type {
  AddRemoteOptions,
  DropFromRemoteOptions,
  HandoffOptions,
  PruneRemoteOptions,
  PullOptions,
  PushOptions,
  RemoteSessionsOptions,
  SetRemoteOptions,
  VerifyRemoteOptions,
} from './remote-types.js'

/** The remotes of a store. Made by `store.remotes`. Nothing is contacted unless a call says so. */
export class Remotes {
  readonly #context: OpenContext

  private constructor(context: OpenContext) {
    this.#context = context
  }

  /** @internal */
  static make(context: OpenContext): Remotes {
    return new Remotes(context)
  }

  /** The remotes that were added. Contacts none of them. */
  async list(): Promise<readonly engine.RemoteView[]> {
    return this.#perform('remotes.list', engine.listRemotes, {})
  }

  /** Adds a remote, without contacting it. Throws BAD_INPUT, KEY_UNUSABLE. */
  async add(name: string, options: AddRemoteOptions): Promise<engine.AddedRemote> {
    const keyFile = options.keyFile === undefined ? undefined : resolve(options.keyFile)
    return this.#perform('remotes.add', engine.addRemote, { ...options, keyFile }, { name })
  }

  /** Changes whether the daemon pushes to a remote. Contacts nothing. Throws REMOTE_UNKNOWN. */
  async set(name: string, options: SetRemoteOptions): Promise<engine.RemoteView> {
    return this.#perform('remotes.set', engine.setRemote, options, { name })
  }

  /**
   * Creates what is missing there: once per remote. Without a name, it is the remote of `openStore({ remote })`, else the only one that
   * was added. Throws REMOTE_REFUSED.
   */
  async init(name?: string): Promise<engine.InitializedRemote> {
    return this.#perform('remotes.init', engine.initRemote, {}, { name })
  }

  /** The SQL that `init` runs, for an administrator; with `role`, also the rights of that role. Contacts nothing. */
  async initSql(name?: string, options: { readonly role?: string } = {}): Promise<string> {
    return this.#perform('remotes.initSql', engine.initSql, options, { name })
  }

  /** Forgets a remote. Its sessions stay there, and those that came from it stay here. Throws REMOTE_UNKNOWN. */
  async remove(name: string): Promise<engine.RemoteView> {
    return this.#perform('remotes.remove', engine.removeRemote, {}, { name })
  }

  /** The sessions of a remote, the last updated first. */
  async sessions(options: RemoteSessionsOptions = {}): Promise<readonly engine.RemoteSession[]> {
    return this.#perform('remotes.sessions', engine.remoteSessions, options)
  }

  /**
   * Sends what the remote lacks: of some sessions, of a project, or of the whole store with its graph threads. This machine keeps the
   * sessions for 12 hours. If the remote has continued, the steps of this store become a session of their own, which is sent too.
   */
  async push(options: PushOptions = {}): Promise<engine.PushResult> {
    const { project, ...others } = options
    return this.#perform('remotes.push', engine.push, others, { project: project?.path })
  }

  /**
   * Gets a session, or everything that is new, with files and states. Changes no folder. If both sides have continued, the steps of
   * this store become a session of their own.
   */
  async pull(options: PullOptions = {}): Promise<engine.PullResult> {
    const { project, into, ...others } = options
    const folders = { project: project?.path, into: into?.path }
    return this.#perform('remotes.pull', engine.pull, others, folders)
  }

  /** Sends a session and gives it up: another machine can continue it at once. */
  async handoff(session: string, options: HandoffOptions = {}): Promise<engine.HandoffResult> {
    return this.#perform('remotes.handoff', engine.handoff, options, { session })
  }

  /**
   * Deletes sessions on a remote, for everyone who shares it. Copies in stores stay; no machine sends them again by itself. Throws
   * SESSION_UNKNOWN, SESSION_DELETED, and SESSION_BUSY for a session that another machine has.
   */
  async drop(
    sessions: string | readonly string[],
    options: DropFromRemoteOptions = {},
  ): Promise<engine.DroppedFromRemote> {
    const named = typeof sessions === 'string' ? [sessions] : sessions
    return this.#perform('remotes.drop', engine.dropFromRemote, options, { sessions: named })
  }

  /** Reads everything that a remote has, and checks it, in a temporary store in the folder of this one. */
  async verify(options: VerifyRemoteOptions = {}): Promise<engine.VerifyRemoteResult> {
    const { signal, remote } = options
    return this.#context.calls.run(() =>
      withTemporaryStore(this.#context.home, (scratch) =>
        engine.verifyRemote(this.#context, { scratch, remote, signal }),
      ),
    )
  }

  /**
   * Applies the retention settings of this store to the sessions of a remote that no process has, compacts long logs, and removes
   * files that no checkpoint needs. Other checkpoints are pruned by the stores that have them.
   */
  async prune(options: PruneRemoteOptions = {}): Promise<engine.PruneRemoteResult> {
    const { remote, dryRun, ...others } = options
    const { callbacks } = splitOptions('remotes.prune', others, { asks: 'confirmPrune' })
    return this.#context.calls.during(() =>
      withTemporaryStore(this.#context.home, (scratch) =>
        engine.pruneRemote(this.#context, { scratch, remote, dryRun, callbacks }),
      ),
    )
  }

  /** Pushes to the remotes that ask for it, and records failures for `status`. @internal */
  async autoPush(): Promise<void> {
    return this.#context.calls.run(() => engine.autoPush(this.#context))
  }

  /**
   * Starts such a push in another process. Undefined if none is due; otherwise resolves when it has ended. `isSoon`: a turn has ended.
   * @internal
   */
  startPushIfDue(options: Parameters<typeof startPushIfDue>[1]): Promise<void> | undefined {
    this.#context.calls.refuseClosed()
    return startPushIfDue(this.#context, options)
  }

  /** Whether such a push has something to send, now or later. @internal */
  isPushLeft(): boolean {
    this.#context.calls.refuseClosed()
    return engine.isPushLeft(this.#context)
  }

  #perform<Result>(
    call: string,
    operation: engine.AnyOperation<engine.StoreContext, Result>,
    options: object,
    identity: object = {},
  ): Promise<Result> {
    const split = splitOptions(call, options, { identity })
    return this.#context.calls.perform(operation, this.#context, split)
  }
}
