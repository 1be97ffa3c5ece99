// Gets one log from a named remote: its segments, then its files if its folder is known here.
import { type BytePath, pathText, type Project } from '../../../model/index.js'
import type { LogHead } from '../../../remote/index.js'
import { ensureProject, type StoreContext } from '../../operation/context.js'
import { fetchFiles, takeLog } from '../../sharing/index.js'
import { unknownSession } from '../../sessions/open-session.js'
import {
  attachSession,
  ensureLinked,
  findSameProject,
  placeholderProject,
} from './attach-project.js'
import { catchUpAndNote } from './catch-up-and-note.js'
import { refuseOtherRemote } from './local-logs.js'
import type { NamedRemote } from '../named-remote.js'
import { leaseOf } from './push-log.js'
import { type RemoteHolder, viewHolder } from '../remote-sessions.js'

export type ReceivedLog = {
  /** 0: everything was here. */
  readonly segments: number
  /** Checkpoints whose files came. */
  readonly files: number
  /** Checkpoints whose files stay there, because no folder here is known as their project. */
  readonly missingFiles: number
  /** The path of its project here. */
  readonly project: string | null
  /** The session that got the steps of this store, because the remote had continued. */
  readonly fork: string | null
  /** The process elsewhere that may still write it. */
  readonly holder: RemoteHolder | null
}

type Request = {
  readonly head: LogHead
  readonly folder: BytePath | undefined
  readonly into: BytePath | undefined
  /** Takes the session from whichever machine has it. */
  readonly take: boolean
  /** A project without a folder here gets one that does not exist, so that its files can be kept. */
  readonly all: boolean
  readonly signal: AbortSignal | undefined
}

export async function pullLog(
  context: StoreContext,
  named: NamedRemote,
  request: Request,
): Promise<ReceivedLog> {
  const { remote } = named
  const { log } = request.head
  refuseOtherRemote(context, named, log)
  const taken = request.take
    ? await takeLog(context, remote, {
        log,
        leaseMs: leaseOf(remote),
        force: true,
        sinceMs: context.openedAtMs,
      })
    : undefined
  const project = findProject(context, request)
  // Its files need a folder, and no host has named one.
  if (log.kind === 'project' && project === undefined) return NOTHING_RECEIVED
  const from = taken === undefined ? { head: request.head } : { taken }
  const options = { ...from, project }
  const { segments, fork = null } = await catchUpAndNote(context, named, log, options)
  if (taken !== undefined) context.ledger.sharing.rememberLease(log, taken.lease.fence)
  const files =
    log.kind === 'session'
      ? await bringFiles(context, named, { ...request, project })
      : await bringSaves(context, named, request)
  const holder = request.take ? null : viewHolder(context, request.head)
  return { segments, fork, holder, ...files }
}

const NO_FILES = { files: 0, missingFiles: 0, project: null }
export const NOTHING_RECEIVED: ReceivedLog = {
  segments: 0,
  ...NO_FILES,
  fork: null,
  holder: null,
}

function findProject(
  context: StoreContext,
  { head, folder, into, all }: Request,
): Project | undefined {
  const { log, project: wanted } = head
  const known = log.kind === 'project' ? context.ledger.sharing.projectOf(log) : null
  if (known !== null) return context.ledger.project(known)
  if (into !== undefined)
    return wanted === null
      ? ensureProject({ ...context, path: into })
      : ensureLinked(context, into, wanted)
  if (wanted === null) return undefined
  const same = findSameProject(context, wanted, folder)
  return same ?? (all ? placeholderProject(context, wanted) : undefined)
}

type ReceivedFiles = Pick<ReceivedLog, 'files' | 'missingFiles' | 'project'>

/** The checkpoints of a project that belong to no session: they are nothing without their files. */
async function bringSaves(
  context: StoreContext,
  { remote }: NamedRemote,
  { head: { log }, signal }: Request,
): Promise<ReceivedFiles> {
  const { ledger } = context
  const shared = log.kind === 'project' ? ledger.sharing.get(log) : undefined
  const projectId = shared === undefined ? null : ledger.sharing.projectOf(log)
  if (projectId === null) return NO_FILES
  const missing = ledger.sharing.missingFiles(log)
  // The host that saved the others sends their files with its next push.
  const ready = missing.filter(({ pack }) => pack !== null)
  for (const { checkpoint } of ready) {
    signal?.throwIfAborted()
    await fetchFiles(context, remote, checkpoint)
  }
  const path = ledger.project(projectId)?.path
  return {
    files: ready.length,
    missingFiles: missing.length - ready.length,
    project: path === undefined ? null : pathText(path),
  }
}

async function bringFiles(
  context: StoreContext,
  { remote }: NamedRemote,
  { head: { log }, project, into, signal }: Request & { readonly project: Project | undefined },
): Promise<ReceivedFiles> {
  const { ledger } = context
  const session = ledger.sessions.byId(log.id)
  if (session === undefined) throw unknownSession(log.id)
  if (project !== undefined && (session.project === null || into !== undefined))
    await attachSession(context, session, project)
  const attached = ledger.sessions.byId(log.id)?.project ?? null
  const missing = ledger.sharing.missingFiles(log)
  if (attached === null) return { ...NO_FILES, missingFiles: missing.length }
  for (const { checkpoint } of missing) {
    signal?.throwIfAborted()
    await fetchFiles(context, remote, checkpoint)
  }
  const path = ledger.project(attached)?.path
  return {
    files: missing.length,
    missingFiles: 0,
    project: path === undefined ? null : pathText(path),
  }
}
