// Resumes a session where its agent stopped: takes the lease, finishes interrupted work, and reads the latest state and the tool
// calls whose outcome is unknown.
import {
  type BytePath,
  type Checkpoint,
  type CheckpointId,
  pathText,
  SavestateError,
} from '../../model/index.js'
import type { Change } from '../../snapshot/index.js'
import { type Brief, type BriefOptions, briefText } from './brief.js'
import { captureNow } from '../checkpoints/capture.js'
import { type StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { OpenedShare } from '../sharing/fleet.js'
import type { OpenRequest } from './open-session.js'
import { withRecoveredProject } from '../restore/recover.js'
import { type SessionContext, readSession } from './session-context.js'
import { readState } from './session-queries.js'
import { continuedElsewhere } from './continued-elsewhere.js'
import { closeSession, openAnySession } from './shared-sessions.js'
import { type SessionView, viewSession } from './session-view.js'
import { type InFlight, inFlight } from './tool-calls.js'
import {
  type ChangeView,
  type CheckpointView,
  viewChange,
  viewCheckpoint,
} from '../checkpoints/views.js'

export type Resumed = {
  readonly context: SessionContext
  readonly session: SessionView
  /** Null if the session has no checkpoint. */
  readonly checkpoint: CheckpointView | null
  readonly state: unknown
  /** Tool calls that were started and whose outcome is unknown. */
  readonly inFlight: readonly InFlight[]
  /** Changes of the folder since the newest checkpoint with files. */
  readonly changedSince: readonly ChangeView[]
  readonly notices: readonly string[]
  brief(options?: BriefOptions): string
}

type ResumeOptions = Callbacks & {
  /** An existing folder, which becomes the project of the session and gets its files. */
  readonly into?: BytePath | undefined
}

export async function resumeSession(
  context: StoreContext,
  request: OpenRequest,
  { into, ...callbacks }: ResumeOptions = {},
): Promise<Resumed> {
  callbacks.signal?.throwIfAborted()
  return resumeOpened(await openAnySession(context, request), { into, callbacks })
}

/**
 * Like `resumeSession`, for any session in progress that no process continues. Undefined if there is none. `onUnusable` gets a notice
 * of each that could not be resumed.
 */
export async function claimSession(
  context: StoreContext,
  { agent }: Pick<OpenRequest, 'agent'>,
  {
    into,
    onUnusable,
    ...callbacks
  }: ResumeOptions & { readonly onUnusable: (notice: string) => void },
): Promise<Resumed | undefined> {
  callbacks.signal?.throwIfAborted()
  const { fleet } = context
  if (fleet === undefined)
    throw new SavestateError(
      'REMOTE_UNKNOWN',
      'A store without a remote has no sessions to claim',
      {
        hint: 'Open it with one: openStore({ remote: "postgres://…" }).',
      },
    )
  const use = (opened: OpenedShare) => resumeOpened(opened, { into, callbacks })
  return fleet.claim({ agent }, { use, onUnusable })
}

async function resumeOpened(
  { session, notices, remoteProject }: OpenedShare,
  { into, callbacks }: { readonly into: BytePath | undefined; readonly callbacks: Callbacks },
): Promise<Resumed> {
  try {
    if (into === undefined) {
      const { lease, project } = session
      const elsewhere = continuedElsewhere(session, { id: lease.id, project })
      return await readResumed(session, { notices: [...notices, ...elsewhere], callbacks })
    }
    const { restoreInto } = await import('../sharing/restore-into.js')
    const { context, notice } = await restoreInto(session, into, { remoteProject, callbacks })
    const told = notice === undefined ? notices : [...notices, `${notice}.`]
    return await readResumed(context, { notices: told, callbacks })
  } catch (error) {
    try {
      await closeSession(session)
    } catch (cause) {
      // The error of the call says more; the lease ends by itself.
      if (!(cause instanceof SavestateError)) throw cause
    }
    throw error
  }
}

async function readResumed(
  context: SessionContext,
  {
    notices: known,
    callbacks,
  }: { readonly notices: readonly string[]; readonly callbacks: Callbacks },
): Promise<Resumed> {
  const { ledger, project } = context
  const notices = [...known]
  const collecting = { ...callbacks, onWarning: (text: string) => void notices.push(text) }
  // An agent can continue without its folder, and has to know that it is gone.
  const changes = await changesSince(context, collecting).catch((error: unknown) => {
    if (!(error instanceof SavestateError) || error.code !== 'PROJECT_MISSING') throw error
    notices.push(`${error.message}.`)
    return []
  })
  for (const notice of notices) callbacks.onWarning?.(notice)
  const session = readSession(context)
  const head = session.head === null ? undefined : ledger.checkpoints.get(session.head)
  const ancestors = ancestorsOf(context, head)
  const calls = inFlight(context)
  const brief: Brief = {
    session,
    project: project === undefined ? null : pathText(project.path),
    ancestors,
    inFlight: calls,
    confirmed: ledger.tools.list(session.key, { limit: 20 }),
    changes: changes.map(viewChange),
    notices,
  }
  return {
    context,
    session: viewSession(context, session),
    checkpoint: head === undefined ? null : viewCheckpoint(head),
    state: head === undefined ? undefined : readState(context, head),
    inFlight: calls,
    changedSince: brief.changes,
    notices,
    brief: (options) => briefText(brief, options),
  }
}

/** Finishes an interrupted rewind first (I6). */
async function changesSince(
  context: SessionContext,
  callbacks: Callbacks,
): Promise<readonly Change[]> {
  const { project, ledger, snapshots } = context
  if (project === undefined) return []
  return withRecoveredProject(context, project, {
    purpose: 'resume',
    callbacks,
    work: async () => {
      const newest = ledger.checkpoints.newestFiles(project.id)
      if (newest === undefined) return []
      const named = { tree: newest.snapshot.tree }
      const { snapshot } = await captureNow(context, project, { named, callbacks })
      return snapshots.compare(newest.snapshot.tree, snapshot.tree, { countLines: true })
    },
  })
}

const MAX_ANCESTORS = 5

/** The head and its ancestors, newest first. */
function ancestorsOf({ ledger }: StoreContext, head: Checkpoint | undefined): Checkpoint[] {
  const ancestors: Checkpoint[] = []
  for (let at = head; at !== undefined && ancestors.length < MAX_ANCESTORS; ) {
    ancestors.push(at)
    const parent: CheckpointId | null = at.session?.parent ?? null
    at = parent === null ? undefined : ledger.checkpoints.get(parent)
  }
  return ancestors
}
