// Recovers checkpoints whose rows are lost but whose commits and refs exist. A commit contains enough to list the checkpoint and to
// rewind to it. Names, pins and sessions are lost with the rows.
import type { Ledger } from '../../ledger/index.js'
import {
  type CheckpointKind,
  type ObjectId,
  parseCheckpointId,
  type Project,
} from '../../model/index.js'
import { type CommitMetadata, measureSnapshot, type ObjectReport } from '../../snapshot/index.js'
import { type RepairContext, type Finding, finding, some } from './findings.js'

type Orphan = { readonly name: string; readonly commit: ObjectId; readonly facts: CommitMetadata }

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
 * A killed save or prune leaves a ref without a row (I2). Rows count as lost only if the ledger is known to have lost
 * some, or if the ref is newer than every row: a ledger never goes back in time by itself.
 */
export function checkLostRows(ledger: Ledger, report: ObjectReport): Finding[] {
  const { rowChecks, record } = ledger
  const newestMs = rowChecks.newestMs()
  const all = findOrphans(ledger, report)
  const lost = all.filter(({ facts }) => record.hasLostRows || facts.createdAtMs > newestMs)
  const rest = all.length - lost.length
  const refs = rest === 1 ? 'a ref has' : `${rest} refs have`
  const leftover =
    rest === 0
      ? []
      : [
          finding('leftover', `${refs} no checkpoint; the next prune removes them`, {
            path: 'objects.git/refs/savestate',
            severity: 'note',
          }),
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
    finding(record.hasLostRows ? 'ledger' : 'leftover', message, {
      severity: record.hasLostRows && lost.length > 0 ? 'damage' : 'note',
      fix: {
        stage: 'rows',
        action: 'recover checkpoints that have files and no row',
        async run({ store: now }) {
          for (const orphan of lost) await relist(now, orphan)
          now.ledger?.record.setLostRows(false)
        },
      },
    }),
  ]
}

function findOrphans(ledger: Ledger, { refs, commits }: ObjectReport): Orphan[] {
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

async function relist(
  { ledger, snapshots }: RepairContext,
  { commit, facts }: Orphan,
): Promise<void> {
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
  ledger.rowChecks.orderByTime(id)
}

/** The user may have saved in the folder since, under another project id. */
function projectFor(ledger: Ledger, facts: CommitMetadata): Project {
  const { project: id, projectPath: path, createdAtMs } = facts
  const known = ledger.project(id) ?? ledger.projectAt(path)
  if (known !== undefined) return known
  ledger.rowChecks.addProject({ id, path }, createdAtMs)
  return { id, path }
}
