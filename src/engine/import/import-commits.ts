// Imports commits of another repository as checkpoints of a project, one after the other: objects, commit and ref
// first, then one transaction with the row, its position and its origin (I1, I2).
import { lstatSync } from 'node:fs'
import {
  type BytePath,
  bytePath,
  type FilesCheckpoint,
  fsPath,
  hasFiles,
  invariant,
  makeId,
  parseCheckpointId,
  parseObjectId,
  parseProjectId,
  parseReason,
  pathText,
  type Project,
} from '../../model/index.js'
import { refuseUnsafeFolder, type SourceCommit } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { type StoreContext, withProjectLock } from '../operation/context.js'
import {
  type CommitHistory,
  importFault,
  type ImportReport,
  type PlannedHistory,
  timeRange,
} from './import-history.js'
import { readParentIdentity } from '../projects/project-state.js'

const MAX_REASON = 10_000

type Commit = SourceCommit & { readonly origin: string }

/** `claimed`: the origins that other histories of this import add. Those of this history are added to it. */
export async function planCommits(
  context: StoreContext,
  history: CommitHistory,
  claimed: Set<string>,
): Promise<PlannedHistory> {
  const { kind, source, path, objects, tip, originPrefix } = history
  refuseUnsafeFolder(path, bytePath(context.home))
  const read = await context.snapshots.readHistory(path, { objects, tip: parseObjectId(tip) })
  const commits = read.commits.map((commit) => ({
    ...commit,
    origin: `${originPrefix}:${commit.id}`,
  }))
  const pending = new Set<Commit>()
  let known = 0
  for (const commit of commits) {
    const { origin, fault } = commit
    if (claimed.has(origin) || checkpointOf(context, origin) !== undefined) known += 1
    else if (fault === null) pending.add(commit)
    claimed.add(origin)
  }
  const faults = commits.flatMap(({ id, fault }) =>
    fault === null ? [] : [{ commit: id, message: fault }],
  )
  return {
    view: {
      kind,
      source,
      project: pathText(path),
      session: null,
      add: pending.size,
      known,
      ...timeRange(commits),
    },
    problems: [...read.problems, ...faults].map(({ commit, message }) => ({
      source: `${source} ${commit}`,
      message,
    })),
    add: (report) => addCommits(context, { history, commits, pending, ...report }),
  }
}

async function addCommits(
  context: StoreContext,
  {
    history,
    commits,
    pending,
    problems,
    onDone,
  }: ImportReport & {
    readonly history: CommitHistory
    /** Oldest first. */
    readonly commits: readonly Commit[]
    readonly pending: ReadonlySet<Commit>
  },
): Promise<number> {
  if (pending.size === 0) return 0
  const project = ensureProjectAt(context, history.path)
  // One shared lock for the whole history: no collection may remove the objects that the next commit builds on.
  return context.objects.shared(async () => {
    let added = 0
    let previous: FilesCheckpoint | undefined
    for (const commit of commits) {
      previous = checkpointOf(context, commit.origin) ?? previous
      if (!pending.has(commit)) continue
      try {
        const { objects } = history
        const { checkpoint, isNew } = await withProjectLock(context, project, {
          purpose: 'import',
          work: () => addCommit(context, project, { commit, objects, previous }),
        })
        previous = checkpoint
        if (isNew) added += 1
      } catch (error) {
        problems.push({ source: `${history.source} ${commit.id}`, message: importFault(error) })
      }
      onDone()
    }
    return added
  })
}

/** `previous`: the checkpoint of the commit before. */
async function addCommit(
  context: StoreContext,
  project: Project,
  {
    commit,
    objects,
    previous,
  }: {
    readonly commit: Commit
    readonly objects: string
    readonly previous: FilesCheckpoint | undefined
  },
): Promise<{ readonly checkpoint: FilesCheckpoint; readonly isNew: boolean }> {
  const { ledger, snapshots, clock } = context
  const known = checkpointOf(context, commit.origin)
  if (known !== undefined) return { checkpoint: known, isNew: false }
  const { createdAtMs, origin } = commit
  const captured = await snapshots.adopt(project, { objects, tree: commit.tree })
  const { skippedPaths, repositories, ...snapshot } = captured
  const id = parseCheckpointId(makeId(clock.random))
  const reason = commit.subject === '' ? null : parseReason(commit.subject.slice(0, MAX_REASON))
  const facts = { kind: 'imported', reason, createdAtMs } as const
  const place = { project: project.id, projectPath: project.path, checkpoint: id }
  const recorded = await snapshots.record(
    { ...facts, ...place, tree: snapshot.tree },
    { tree: previous?.snapshot.tree },
  )
  invariant(recorded.changes !== undefined, 'record counts changes when asked to')
  const checkpoint: FilesCheckpoint = {
    ...facts,
    id,
    project: project.id,
    name: null,
    pinned: false,
    authors: null,
    commit: recorded.commit,
    snapshot,
    changes: recorded.changes,
    session: null,
  }
  failpoint('import:before-row')
  ledger.transaction(() => {
    ledger.checkpoints.insert(checkpoint, { skippedPaths, repositories })
    ledger.imports.place(id, { atMs: createdAtMs, after: previous?.id ?? null })
    ledger.imports.record(origin, id, clock.nowMs())
    ledger.projectRecords.touch(project.id, clock.nowMs())
  })
  failpoint('import:after-row')
  return { checkpoint, isNew: true }
}

/** The checkpoint that was imported from this origin, if it still exists. */
function checkpointOf({ ledger }: StoreContext, origin: string): FilesCheckpoint | undefined {
  const id = ledger.imports.importedAs(origin)
  const found = id === undefined ? undefined : ledger.checkpoints.get(parseCheckpointId(id))
  return found !== undefined && hasFiles(found) ? found : undefined
}

/**
 * If the folder does not exist, the identity of its former parent is unknown. Without it nothing proves that the folder was
 * removed, so the project counts as unreachable and a prune keeps it.
 */
function ensureProjectAt({ ledger, clock }: StoreContext, path: BytePath): Project {
  const exists = lstatSync(fsPath(path), { throwIfNoEntry: false })?.isDirectory() ?? false
  const parent = exists ? readParentIdentity(path) : { parentDev: '', parentIno: '' }
  const id = parseProjectId(makeId(clock.random))
  return ledger.ensureProject({ id, path, createdAtMs: clock.nowMs(), ...parent })
}
