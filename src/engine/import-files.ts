// Makes commits of another repository checkpoints of a project, one after the other: objects, commit and ref first,
// then one transaction with the row, its place and where it came from (I1, I2).
import {
  type BytePath,
  type FilesCheckpoint,
  hasFiles,
  makeId,
  parseCheckpointId,
  parseProjectId,
  parseReason,
  type Project,
  invariant,
} from '../model/index.js'
import { failpoint } from '../system/index.js'
import { type StoreContext, withProjectLock } from './context.js'
import { faultIn, type FilesSource, isFolder, type Report } from './import-source.js'
import { parentIdentity } from './project-state.js'

type Commit = FilesSource['commits'][number]

const MAX_REASON = 10_000

export type FilesOutlook = { readonly pending: ReadonlySet<Commit>; readonly known: number }

/** `claimed`: origins that another history brings in already; those of this one are added to it. */
export function outlookOfFiles(
  context: StoreContext,
  { commits }: FilesSource,
  claimed: Set<string>,
): FilesOutlook {
  const pending = new Set<Commit>()
  let known = 0
  for (const commit of commits) {
    const { origin, fault } = commit
    if (claimed.has(origin) || madeFrom(context, origin) !== undefined) known += 1
    else if (fault === null) pending.add(commit)
    claimed.add(origin)
  }
  return { pending, known }
}

/** Adds what is pending; returns how many were added. */
export async function importFiles(
  context: StoreContext,
  { source, outlook }: { readonly source: FilesSource; readonly outlook: FilesOutlook },
  { problems, onDone }: Report,
): Promise<number> {
  if (outlook.pending.size === 0) return 0
  const project = ensureProjectOf(context, source.path)
  // Shared for as long as it takes: what one commit has brought in, the next one builds on.
  return context.objects.shared(async () => {
    let added = 0
    let previous: FilesCheckpoint | undefined
    for (const commit of source.commits) {
      previous = madeFrom(context, commit.origin) ?? previous
      if (!outlook.pending.has(commit)) continue
      try {
        const { checkpoint, isNew } = await importCommit(context, project, {
          commit,
          objects: source.objects,
          previous,
        })
        previous = checkpoint
        if (isNew) added += 1
      } catch (error) {
        problems.push({ source: `${source.source} ${commit.id}`, message: faultIn(error) })
      }
      onDone()
    }
    return added
  })
}

type Work = {
  readonly commit: Commit
  readonly objects: string
  /** The checkpoint of the commit before. */
  readonly previous: FilesCheckpoint | undefined
}

function importCommit(
  context: StoreContext,
  project: Project,
  { commit, objects, previous }: Work,
): Promise<{ readonly checkpoint: FilesCheckpoint; readonly isNew: boolean }> {
  const { ledger, snapshots, clock } = context
  return withProjectLock(context, project, {
    purpose: 'import',
    work: async () => {
      const known = madeFrom(context, commit.origin)
      if (known !== undefined) return { checkpoint: known, isNew: false }
      const { createdAtMs, tree: source, origin } = commit
      const captured = await snapshots.adopt(project, { objects, tree: source })
      const { skippedPaths, repositories, ...snapshot } = captured
      const { tree } = snapshot
      const id = parseCheckpointId(makeId(clock.random))
      const reason = commit.subject === '' ? null : parseReason(commit.subject.slice(0, MAX_REASON))
      const facts = { kind: 'imported', reason, createdAtMs } as const
      const place = { tree, project: project.id, projectPath: project.path, checkpoint: id }
      const recorded = await snapshots.record(
        { ...facts, ...place },
        { tree: previous?.snapshot.tree },
      )
      const { changes } = recorded
      invariant(changes !== undefined, 'a count that was asked for is given')
      const checkpoint: FilesCheckpoint = {
        ...facts,
        id,
        project: project.id,
        name: null,
        pinned: false,
        authors: null,
        commit: recorded.commit,
        snapshot,
        changes,
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
    },
  })
}

/** The checkpoint that a commit has become, if it is still there. */
function madeFrom({ ledger }: StoreContext, origin: string): FilesCheckpoint | undefined {
  const id = ledger.imports.importedAs(origin)
  const found = id === undefined ? undefined : ledger.checkpoints.get(parseCheckpointId(id))
  return found !== undefined && hasFiles(found) ? found : undefined
}

/**
 * Of a folder that is not there nothing is known about the folder above it at the time: no proof can ever be had that
 * it is gone for good, so it counts as out of reach, and is kept.
 */
function ensureProjectOf({ ledger, clock }: StoreContext, path: BytePath): Project {
  const createdAtMs = clock.nowMs()
  const id = parseProjectId(makeId(clock.random))
  const parent = isFolder(path) ? parentIdentity(path) : { parentDev: '', parentIno: '' }
  return ledger.ensureProject({ id, path, createdAtMs, ...parent })
}
