// Opens the sessions of a store, and closes them with it.
import { mkdirSync } from 'node:fs'
import * as engine from '../engine/index.js'
import { type BytePath, bytePath } from '../model/index.js'
import { refuseUnsafeFolder } from '../snapshot/index.js'
import { splitOptions } from './call-options.js'
import type { OpenContext } from './opening/open-context.js'
import { refuseUnknown } from './opening/validate-options.js'
import { Project } from './project.js'
import { Session } from './session.js'
import {
  CLAIM_OPTIONS,
  type ClaimOptions,
  FORK_OPTIONS,
  type ForkOptions,
  RESUME_OPTIONS,
  type ResumedSession,
  type ResumeOptions,
  SESSION_OPTIONS,
  type SessionOptions,
} from './store-types.js'

/** See the methods of `Store` with these names. */
export class OpenSessions {
  readonly #context: OpenContext
  readonly #open = new Set<{ close(): Promise<void> }>()

  constructor(context: OpenContext) {
    this.#context = context
  }

  async open<State>(id: string, options: SessionOptions): Promise<Session<State>> {
    refuseUnknown('session', options, SESSION_OPTIONS)
    const { create = true } = options
    return this.#context.calls.run(async () => {
      const request = openRequest(id, { ...options, create })
      return this.#report(await engine.openAnySession(this.#context, request))
    })
  }

  async resume<State>(id: string, options: ResumeOptions): Promise<ResumedSession<State>> {
    const { input, callbacks } = splitOptions('resume', options)
    refuseUnknown('resume', input, RESUME_OPTIONS)
    const { into, ...given } = input as ResumeOptions
    return this.#context.calls.run(async () => {
      const how = { ...callbacks, into: this.#folder(into) }
      const resumed = await engine.resumeSession(this.#context, openRequest(id, given), how)
      return this.#viewResumed<State>(resumed)
    })
  }

  async claim<State>(options: ClaimOptions): Promise<ResumedSession<State> | undefined> {
    const { input, callbacks } = splitOptions('claim', options)
    refuseUnknown('claim', input, CLAIM_OPTIONS)
    const { agent, into } = input as ClaimOptions
    return this.#context.calls.run(async () => {
      const onUnusable = callbacks.onWarning ?? emitWarning
      const how = { ...callbacks, into: this.#folder(into), onUnusable }
      const resumed = await engine.claimSession(this.#context, { agent }, how)
      return resumed === undefined ? undefined : this.#viewResumed<State>(resumed)
    })
  }

  async fork<State>(ref: string, options: ForkOptions): Promise<Session<State>> {
    refuseUnknown('fork', options, FORK_OPTIONS)
    const { session: id, ...given } = options
    return this.#context.calls.run(async () =>
      this.#report(await engine.forkAnySession(this.#context, ref, { id, ...given })),
    )
  }

  /** Closes all, also if one of them could not be shared. Throws the first error. */
  async close(): Promise<void> {
    const closed = await Promise.allSettled([...this.#open].map((session) => session.close()))
    for (const each of closed) if (each.status === 'rejected') throw each.reason
  }

  #viewResumed<State>(resumed: engine.Resumed): ResumedSession<State> {
    const { context, session: info, state, ...rest } = resumed
    return { ...rest, info, state: state as State | undefined, session: this.#track(context) }
  }

  /** The folder that `into` names, which exists afterwards. */
  #folder(path: string | undefined): BytePath | undefined {
    if (path === undefined) return undefined
    mkdirSync(path, { recursive: true })
    const folder = engine.projectFolder(this.#context, path)
    refuseUnsafeFolder(folder, bytePath(this.#context.home))
    return folder
  }

  /** These calls have no `onWarning`. */
  #report<State>({ session, notices }: engine.OpenedShare): Session<State> {
    for (const notice of notices) emitWarning(notice)
    return this.#track(session)
  }

  #track<State>(context: engine.SessionContext): Session<State> {
    const onClose = () => this.#open.delete(session)
    const session: Session<State> = Session.make(context, { calls: this.#context.calls, onClose })
    this.#open.add(session)
    return session
  }
}

/** For a caller that gave no `onWarning`, and must learn it. */
function emitWarning(text: string): void {
  process.emitWarning(text, 'SavestateWarning')
}

function openRequest(id: string, { project, create, ...facts }: SessionOptions) {
  return {
    id,
    ...facts,
    project: project === undefined ? undefined : Project.known(project),
    must: create === true ? undefined : ('be known' as const),
  }
}
