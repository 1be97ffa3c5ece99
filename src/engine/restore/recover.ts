// Finishes the operation of a killed process before anything else happens to the project (I6), or rolls it back: restores
// its paths from the safety checkpoint, except for those that another program has changed since.
import {
  type BytePath,
  type Entry,
  hasFiles,
  invariant,
  isError,
  type Left,
  type ObjectId,
  printablePath,
  type Project,
  SavestateError,
} from '../../model/index.js'
import { captureNow } from '../checkpoints/capture.js'
import { type Callbacks, uncancellable } from '../operation/callbacks.js'
import {
  findKnownProject,
  type ProjectContext,
  type StoreContext,
  tryWithProjectLock,
  withProjectLock,
} from '../operation/context.js'
import { readProjectState } from '../projects/project-state.js'
import { applyRestore } from './apply-restore.js'
import { removeAsides, removeLeftAsides } from './remove-asides.js'
import type { RestoreOutcome } from './restore-errors.js'
import {
  GONE,
  isOnlyOpened,
  type JournalEntry,
  pendingJournals,
  readJournal,
  readRootInode,
  removeJournal,
  stagingFolders,
  type StartedRestore,
} from './restore-journal.js'
import { commitRestore } from './restore-record.js'

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

/** For operations that do not lock the project: recovers it if no live process works on it. */
export async function recoverIfNeeded(
  context: ProjectContext,
  callbacks: Callbacks,
): Promise<void> {
  const project = findKnownProject(context)
  if (project === undefined || !pendingJournals(context.home).includes(project.id)) return
  await tryWithProjectLock(context, project, {
    purpose: 'recover',
    work: () => recover(context, project, callbacks),
  })
}

/** For operations on the whole store: reports the projects that cannot be recovered now and leaves them for later. */
export async function recoverAll(context: StoreContext, callbacks: Callbacks): Promise<void> {
  const pending = new Set(pendingJournals(context.home))
  for (const { project } of context.ledger.projects()) {
    if (!pending.has(project.id)) continue
    await recoverIfNeeded({ ...context, path: project.path }, callbacks).catch((error: unknown) => {
      if (!(error instanceof SavestateError)) throw error
      callbacks.onWarning?.(`${printablePath(project.path)}: ${error.message}.`)
    })
  }
}

/** The caller holds the project's lock, so the process that wrote a journal is dead. */
async function recover(context: StoreContext, project: Project, given: Callbacks): Promise<void> {
  const { home, ledger } = context
  const callbacks = uncancellable(given)
  const journal = readJournal(home, project.id)
  if (journal === undefined) return
  // Killed after the row was added and before the journal was removed: the operation is complete.
  if (ledger.operations(project.id).some(({ id }) => id === journal.operation))
    return removeJournal(home, project.id)
  // The disk may be unmounted now and mounted later; finish the work then.
  if (isUnreachable(context, project)) return
  const { kind, reason } = journal
  if (journal.rootInode !== readRootInode(project)) {
    removeJournal(home, project.id)
    callbacks.onWarning?.(
      `The folder of an interrupted ${kind} was replaced by another one; it is left as it is.`,
    )
    return
  }
  const safety = ledger.checkpoints.get(journal.safety)
  invariant(
    safety !== undefined && hasFiles(safety),
    'a journal is written after its safety checkpoint',
  )
  const work = { journal, safety, callbacks }
  try {
    const left = await finish(context, project, work)
    callbacks.onWarning?.(`An interrupted ${kind} has been finished: ${reason}.`)
    reportLeft(left, work)
  } catch (error) {
    const why = isError(error) ? error.message : String(error)
    const left = await rollBack(context, project, work).catch((cause: unknown) => {
      throw new SavestateError(
        'RECOVERY_FAILED',
        `An interrupted ${kind} could neither be finished nor undone: ${why}`,
        { hint: `Everything that was there before is in checkpoint ${safety.id}.`, cause },
      )
    })
    callbacks.onWarning?.(`An interrupted ${kind} could not be finished and was undone: ${why}`)
    reportLeft(left, work)
  }
}

function isUnreachable({ ledger }: StoreContext, { id, path }: Project): boolean {
  const summary = ledger.projects().find(({ project }) => project.id === id)
  return summary !== undefined && readProjectState(path, summary) === 'unreachable'
}

/** Returns the paths that it left as they are. */
async function finish(
  context: StoreContext,
  project: Project,
  work: StartedRestore,
): Promise<readonly Left[]> {
  const { journal } = work
  await removeLeftAsides(context, project, work)
  const { now, only: untouched, left } = await findUntouched(context, project, work)
  const opened = journal.entries.filter(isOnlyOpened)
  const only = untouched.filter((path) => !opened.some((entry) => entry.path === path))
  const { goal } = journal
  const rest = await context.snapshots.plan(project, { now, goal, paths: undefined, only })
  const closing = opened.flatMap(({ path, from, to }) =>
    from === null || to === null ? [] : { path, from, to },
  )
  const plan = { ...rest, write: [...closing, ...rest.write] }
  const named = { paths: only }
  const { after } = await applyRestore(context, project, { ...work, plan, only, named })
  await commitRestore(context, project, { ...work, after })
  return left
}

/** Half a rewind is worse than none. If the rollback fails too, the journal stays and the next command tries again. */
export async function rollBackUnfinished(
  context: StoreContext,
  project: Project,
  given: Omit<StartedRestore, 'journal'>,
): Promise<RestoreOutcome> {
  const journal = readJournal(context.home, project.id)
  if (journal === undefined) return { type: 'untouched' }
  const inode = readRootInode(project)
  // The user may move the folder back.
  if (inode === GONE) return { type: 'unfinished' }
  if (journal.rootInode !== inode) {
    removeJournal(context.home, project.id)
    return { type: 'replaced' }
  }
  try {
    const left = await rollBack(context, project, { ...given, journal })
    reportLeft(left, given)
    return { type: 'rolled-back', left: left.length }
  } catch {
    // The caller throws the original error, which says more than this one.
    return { type: 'unfinished' }
  }
}

/** Returns the paths that could not be restored. */
async function rollBack(
  context: StoreContext,
  project: Project,
  work: StartedRestore,
): Promise<readonly Left[]> {
  const { journal, safety } = work
  const { snapshots, home, ledger } = context
  await removeLeftAsides(context, project, work)
  const { now, only, left } = await findUntouched(context, project, work)
  const goal = safety.snapshot.tree
  const plan = await snapshots.plan(project, { now, goal, paths: undefined, only })
  const { asides, disturbed } = await snapshots.apply(project, {
    plan,
    tag: journal.operation,
    sweep: stagingFolders(journal.entries),
    ownersThen: ledger.checkpoints.details(safety.id)?.owners,
  })
  await removeAsides(context, project, { ...work, asides })
  removeJournal(home, project.id)
  return [...plan.conflict, ...left, ...disturbed.map(changedSince)]
}

/** Reports the paths that recovery or rollback left as they are. */
function reportLeft(
  left: readonly Left[],
  { safety, callbacks }: Omit<StartedRestore, 'journal'>,
): void {
  const [first] = left
  if (first === undefined) return
  const others = left.length === 1 ? 'stays' : `and ${left.length - 1} more stay`
  callbacks.onWarning?.(
    `${printablePath(first.path)} ${others} as found: ${first.reason}. Checkpoint ${safety.id} has the files from before.`,
  )
}

/** Captures the folder and finds the journal's paths that no other program has changed; `left` are the others. */
async function findUntouched(
  context: StoreContext,
  project: Project,
  { journal: { entries }, safety }: StartedRestore,
): Promise<{
  readonly now: ObjectId
  readonly only: readonly BytePath[]
  readonly left: readonly Left[]
}> {
  const named = { paths: entries.map(({ path }) => path) }
  const { snapshot } = await captureNow(context, project, { named })
  const changes = await context.snapshots.compare(safety.snapshot.tree, snapshot.tree, {
    countLines: false,
  })
  const changed = new Map(changes.map(({ path, after }) => [path, after]))
  const isUntouched = ({ path, from, to }: JournalEntry) => {
    const present = changed.get(path)
    return !changed.has(path) || isKnown(present, from) || isKnown(present, to)
  }
  const only = entries.filter(isUntouched).map(({ path }) => path)
  const left = entries.filter((entry) => !isUntouched(entry)).map(({ path }) => path)
  return { now: snapshot.tree, only, left: left.map(changedSince) }
}

function changedSince(path: BytePath): Left {
  return { path, reason: 'changed since' }
}

/** A missing entry or a folder has no content that could be lost. */
function isKnown(present: Entry | undefined, known: Entry | null): boolean {
  if (present === undefined || present.type === 'folder') return true
  return known !== null && known.type === present.type && known.blob === present.blob
}
