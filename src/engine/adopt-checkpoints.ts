// Checkpoints whose rows are lost while their objects, commits and refs are there: the commits say enough to list them
// and go back to them. Names, pins and sessions are lost with the rows.
import type { Ledger } from '../ledger/index.js'
import {
  type CheckpointKind,
  type ObjectId,
  parseCheckpointId,
  type Project,
} from '../model/index.js'
import { type CommitFacts, measureSnapshot, type ObjectReport } from '../snapshot/index.js'
import { type CareContext, type Finding, some } from './findings.js'

type Orphan = { readonly name: string; readonly commit: ObjectId; readonly facts: CommitFacts }

const KINDS: readonly CheckpointKind[] = [
  'save',
  'safety',
  'rewind',
  'undo',
  'redo',
  'recovery',
  'imported',
]

/**
 * A ref without a row is what a killed save or prune leaves (I2), and stays so. Rows are taken for lost only if the
 * ledger is known to have lost some, or if it ends before the ref: a ledger never goes back in time by itself.
 */
export function adoptFinding(ledger: Ledger, report: ObjectReport): Finding[] {
  const { rowChecks, record } = ledger
  const newestMs = rowChecks.newestMs()
  const all = orphans(ledger, report)
  const lost = all.filter(({ facts }) => record.hasLostRows || facts.createdAtMs > newestMs)
  const rest = all.length - lost.length
  const leftover: Finding[] =
    rest === 0
      ? []
      : [
          {
            kind: 'leftover',
            message: `${rest === 1 ? 'a ref has' : `${rest} refs have`} no checkpoint; the next prune removes such`,
            checkpoint: null,
            path: 'objects.git/refs/savestate',
            severity: 'note',
            repairable: false,
          },
        ]
  if (lost.length === 0 && !record.hasLostRows) return leftover
  const names = some(lost.map(({ facts }) => facts.checkpoint))
  const message = !record.hasLostRows
    ? `the ledger ends before ${names}: a save was stopped, or rows are lost; repair recovers them`
    : lost.length === 0
      ? 'rows were lost; every ref has its row again'
      : `the rows of ${names} are lost, but not their files`
  return [
    ...leftover,
    {
      kind: record.hasLostRows ? 'ledger' : 'leftover',
      message,
      checkpoint: null,
      severity: record.hasLostRows && lost.length > 0 ? 'damage' : 'note',
      repairable: true,
      fix: {
        stage: 'rows',
        action: 'recover checkpoints that have files and no row',
        async run({ care: now }) {
          for (const orphan of lost) await adopt(now, orphan)
          now.ledger?.record.setLostRows(false)
        },
      },
    },
  ]
}

function orphans(ledger: Ledger, { refs, commits }: ObjectReport): Orphan[] {
  const known = ledger.rowChecks.allIds()
  return [...refs.commits]
    .flatMap(([name, commit]): Orphan[] => {
      const facts = commits.get(commit)
      if (facts === undefined || facts === null || facts === 'there') return []
      const isOwn = name.endsWith(`/${facts.checkpoint}`)
      return isOwn && !known.has(facts.checkpoint) ? [{ name, commit, facts }] : []
    })
    .sort((a, b) => a.facts.createdAtMs - b.facts.createdAtMs)
}

async function adopt({ ledger, snapshots }: CareContext, { commit, facts }: Orphan): Promise<void> {
  if (ledger === undefined) return
  const project = projectFor(ledger, facts)
  const figures = await measureSnapshot(snapshots.gitDir, facts.tree)
  const id = parseCheckpointId(facts.checkpoint)
  ledger.addCheckpoint(
    {
      id,
      project: project.id,
      kind: KINDS.find((kind) => kind === facts.kind) ?? 'save',
      name: null,
      reason: facts.reason,
      createdAtMs: facts.createdAtMs,
      pinned: false,
      authors: null,
      commit,
      session: null,
      snapshot: { tree: facts.tree, ...figures, skippedCounts: {} },
      changes: { files: figures.fileCount, insertions: 0, deletions: 0 },
    },
    { skippedPaths: [], repositories: [] },
  )
  ledger.rowChecks.placeByTime(id)
}

/** Somebody may have saved in the folder since, under another id. */
function projectFor(ledger: Ledger, facts: CommitFacts): Project {
  const { project: id, projectPath: path, createdAtMs } = facts
  const known = ledger.project(id) ?? ledger.projectAt(path)
  if (known !== undefined) return known
  ledger.rowChecks.addProject({ id, path }, createdAtMs)
  return { id, path }
}
