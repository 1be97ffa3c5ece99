// Finishes the operation of a killed process before anything else happens to the project (I6). An operation that cannot
// be finished is rolled back.
import {
  hasFiles,
  invariant,
  isError,
  type Left,
  printablePath,
  type Project,
  SavestateError,
} from '../../model/index.js'
import { applyRestore } from './apply-restore.js'
import {
  tryWithProjectLock,
  findKnownProject,
  type ProjectContext,
  type StoreContext,
  withProjectLock,
} from '../operation/context.js'
import { type Callbacks, uncancellable } from '../operation/callbacks.js'
import { changedPaths, isOnlyOpened, Journals, readRootInode } from './restore-journal.js'
import { readProjectState } from '../projects/project-state.js'
import { commitRestore } from './restore-record.js'
import { removeLeftAsides } from './remove-asides.js'
import { type InterruptedRestore, findUntouched, reportLeft, rollBack } from './rollback.js'

/** Runs `work` under the project's lock, after any interrupted operation of the project is finished or rolled back (I6). */
export function withRecoveredProject<T>(
  context: StoreContext,
  project: Project,
  {
    purpose,
    callbacks,
    work,
  }: { readonly purpose: string; readonly callbacks: Callbacks; readonly work: () => Promise<T> },
): Promise<T> {
  return withProjectLock(context, project, {
    purpose,
    signal: callbacks.signal,
    work: async () => {
      await recover(context, project, callbacks)
      return work()
    },
  })
}

/** The caller holds the project's lock, so the process that wrote a journal is dead. */
async function recover(context: StoreContext, project: Project, given: Callbacks): Promise<void> {
  const callbacks = uncancellable(given)
  const journals = new Journals(context.home)
  const journal = journals.read(project)
  if (journal === undefined) return
  if (context.ledger.operations(project.id).some(({ id }) => id === journal.operation)) {
    // Killed after the row was added and before the journal was removed: the operation is complete.
    journals.remove(project.id)
    return
  }
  // The disk may be unmounted now and mounted later; finish the work then.
  if (isUnreachable(context, project)) return
  if (journal.rootInode !== readRootInode(project)) {
    journals.remove(project.id)
    callbacks.onWarning?.(
      `The folder of an interrupted ${journal.kind} was replaced by another one; it is left as it is.`,
    )
    return
  }
  const safety = context.ledger.checkpoints.get(journal.safety)
  invariant(
    safety !== undefined && hasFiles(safety),
    'a journal is written after its safety checkpoint',
  )
  const work = { journal, safety, callbacks }
  try {
    const left = await finish(context, project, work)
    callbacks.onWarning?.(`An interrupted ${journal.kind} has been finished: ${journal.reason}.`)
    reportLeft(left, { safety, callbacks })
  } catch (error) {
    const why = isError(error) ? error.message : String(error)
    const left = await rollBack(context, project, work).catch((second: unknown) => {
      throw new SavestateError(
        'RECOVERY_FAILED',
        `An interrupted ${journal.kind} could neither be finished nor undone: ${why}`,
        {
          hint: `Everything that was there before is in checkpoint ${safety.id}.`,
          cause: second,
        },
      )
    })
    callbacks.onWarning?.(
      `An interrupted ${journal.kind} could not be finished and was undone: ${why}`,
    )
    reportLeft(left, { safety, callbacks })
  }
}

function isUnreachable({ ledger }: StoreContext, { id, path }: Project): boolean {
  const summary = ledger.projects().find(({ project }) => project.id === id)
  return summary !== undefined && readProjectState(path, summary) === 'unreachable'
}

/** For operations that do not lock the project: recovers it if no live process works on it. */
export async function recoverIfNeeded(
  context: ProjectContext,
  callbacks: Callbacks,
): Promise<void> {
  const project = findKnownProject(context)
  if (project === undefined || !new Journals(context.home).pending().includes(project.id)) return
  await tryWithProjectLock(context, project, {
    purpose: 'recover',
    work: () => recover(context, project, callbacks),
  })
}

/** For operations on the whole store: reports the projects that cannot be recovered now and leaves them for later. */
export async function recoverAll(context: StoreContext, callbacks: Callbacks): Promise<void> {
  const pending = new Set(new Journals(context.home).pending())
  for (const { project } of context.ledger.projects()) {
    if (!pending.has(project.id)) continue
    await recoverIfNeeded({ ...context, path: project.path }, callbacks).catch((error: unknown) => {
      if (!(error instanceof SavestateError)) throw error
      callbacks.onWarning?.(`${printablePath(project.path)}: ${error.message}.`)
    })
  }
}

/** Returns the paths that it left as they are. */
async function finish(
  context: StoreContext,
  project: Project,
  work: InterruptedRestore,
): Promise<readonly Left[]> {
  const { journal, safety, callbacks } = work
  const { kind, of, goal, ownersThen, reason, operation, session, rewind } = journal
  await removeLeftAsides(context, project, work)
  const { now, only: untouched, left } = await findUntouched(context, project, work)
  const opened = journal.entries.filter(isOnlyOpened)
  const only = untouched.filter((path) => !opened.some((entry) => entry.path === path))
  const request = { kind, of, goal, ownersThen, reason, paths: undefined, only, session, rewind }
  const rest = await context.snapshots.plan(project, { now, goal, paths: undefined, only })
  const closing = opened.flatMap(({ path, from, to }) =>
    from === null || to === null ? [] : { path, from, to },
  )
  const plan = { ...rest, write: [...closing, ...rest.write] }
  const { entries } = journal
  const { after } = await applyRestore(context, project, {
    request,
    plan,
    entries,
    only,
    safety,
    operation,
    rootInode: journal.rootInode,
    callbacks,
  })
  const planned = changedPaths(entries)
  await commitRestore(context, project, { after, planned, safety, operation, request })
  return left
}
