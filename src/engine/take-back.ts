// Undoes an unfinished rewind: brings its paths back to what the safety checkpoint holds. What somebody
// else has changed since is left alone.
import type { BytePath, Entry, FilesCheckpoint, ObjectId, Project } from '../model/index.js'
import { captureNow } from './capture.js'
import type { StoreContext } from './context.js'
import { type Journal, Journals, stagingFolders } from './journal.js'

export type Interrupted = { readonly journal: Journal; readonly safety: FilesCheckpoint }

export async function takeBack(
  context: StoreContext,
  project: Project,
  work: Interrupted,
): Promise<void> {
  const { journal, safety } = work
  const { snapshots, home } = context
  const { now, only } = await untouchedPaths(context, project, work)
  const goal = safety.snapshot.tree
  const plan = await snapshots.plan(project, { now, goal, skippedThen: [], paths: undefined, only })
  await snapshots.apply(project, {
    plan,
    tag: journal.operation,
    sweep: stagingFolders(journal.entries),
  })
  new Journals(home).remove(project.id)
}

/** The folder as it is, and the journal's paths that nobody but the interrupted work has changed. */
export async function untouchedPaths(
  context: StoreContext,
  project: Project,
  { journal, safety }: Interrupted,
): Promise<{ readonly now: ObjectId; readonly only: readonly BytePath[] }> {
  const { snapshot } = await captureNow(context, project)
  const changes = await context.snapshots.compare(safety.snapshot.tree, snapshot.tree, {
    countLines: false,
  })
  const changed = new Map(changes.map(({ path, after }) => [path, after]))
  const isUntouched = ({ path, from, to }: Journal['entries'][number]) => {
    const present = changed.get(path)
    return !changed.has(path) || isKnown(present, from) || isKnown(present, to)
  }
  const only = journal.entries.filter(isUntouched).map(({ path }) => path)
  return { now: snapshot.tree, only }
}

/** Absence and folders hold nothing that could be lost. */
function isKnown(present: Entry | undefined, known: Entry | null): boolean {
  if (present === undefined || present.type === 'folder') return true
  return known !== null && known.type === present.type && known.blob === present.blob
}
