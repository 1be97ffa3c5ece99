// Remotes: shared places for sessions and their files (docs/guide/handoff.md).
import { resolve } from 'node:path'
import * as engine from '../engine/index.js'
import { splitOptions } from './call-options.js'
import type { OpenContext } from './opening/open-context.js'

/** Options of `store.remotes.add`: with a key file, or plain. */
export type AddRemoteOptions = {
  /** `postgres://host/database`, or a git repository: a URL, `user@host:path`, or an absolute path. */
  readonly url: string
  /** The file with the key that encrypts everything before it leaves this machine. Created if it does not exist. */
  readonly keyFile?: string
  /** Nothing is encrypted. */
  readonly plain?: boolean
  /** PostgreSQL: the schema of the tables. Default: savestate. */
  readonly schema?: string
  /** The daemon pushes after each turn. Default: false. */
  readonly autoPush?: boolean
}

/** The remotes of a store. Made by `store.remotes`. */
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
    return this.#perform('remotes.add', engine.addRemote, options, { name, keyFile })
  }

  /** Forgets a remote. What it has stays there, and what came from it stays here. Throws REMOTE_UNKNOWN. */
  async remove(name: string): Promise<engine.RemoteView> {
    return this.#perform('remotes.remove', engine.removeRemote, {}, { name })
  }

  #perform<Result>(
    call: string,
    operation: engine.AnyOperation<engine.StoreContext, Result>,
    options: object,
    identity: object = {},
  ): Promise<Result> {
    const split = splitOptions(call, options)
    const input = { ...split.input, ...identity }
    return this.#context.calls.perform(operation, this.#context, { ...split, input })
  }
}
