// Finds what the user names in `compare` and `adopt`: a session, such as a fork with a folder of its own, or a checkpoint.
import {
  type Checkpoint,
  type FilesCheckpoint,
  hasFiles,
  parseReference,
  type Project,
  SavestateError,
  type Session,
} from '../../model/index.js'
import { withFilesHere } from '../checkpoints/files-here.js'
import { resolve, withFiles } from '../checkpoints/resolve-ref.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'

export type Attempt = {
  /** Undefined for a checkpoint. */
  readonly session: Session | undefined
  /** The project of a session that works in another folder. */
  readonly own: Project | undefined
  /** Its newest files. */
  readonly newest: FilesCheckpoint
}

/** A number is always a checkpoint. */
export async function findAttempt(context: ProjectContext, text: string): Promise<Attempt> {
  const session = findSession(context, text)
  const project = findKnownProject(context)
  const own = session === undefined ? undefined : ownProject(context, session, project)
  const found =
    session === undefined
      ? resolve(context.ledger, project, text)
      : own === undefined
        ? newestOf(context, session)
        : (context.ledger.checkpoints.newestFiles(own.id) ?? newestOf(context, session))
  return { session, own, newest: withFiles(await withFilesHere(context, found)) }
}

function findSession({ ledger }: ProjectContext, text: string): Session | undefined {
  const isSession = ledger.sessions.byId(text)
  return isSession === undefined || isNumber(text) ? undefined : isSession
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text) && parseReference(text).type === 'number'
}

function ownProject(
  { ledger }: ProjectContext,
  session: Session,
  project: Project | undefined,
): Project | undefined {
  if (session.project === null || session.project === project?.id) return undefined
  return ledger.project(session.project)
}

function newestOf({ ledger }: ProjectContext, { key, id }: Session): Checkpoint {
  const found = ledger.checkpoints.list({ session: key }).find(hasFiles)
  if (found !== undefined) return found
  throw new SavestateError('CHECKPOINT_PARTIAL', `The session ${JSON.stringify(id)} has no files`)
}
