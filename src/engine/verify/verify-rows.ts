// Checks the ledger: its file, its rows and their references, and checkpoints whose rows are lost.
import type { Ledger } from '../../ledger/index.js'
import { backupTimeMs, rescueLedger, type RowFault } from '../../ledger/index.js'
import {
  bytePath,
  type CheckpointKind,
  isError,
  type ObjectId,
  parseCheckpointId,
  type Project,
} from '../../model/index.js'
import { type CommitMetadata, measureSnapshot, type ObjectReport } from '../../snapshot/index.js'
import type { Damage } from './damage-marks.js'
import {
  type Finding,
  finding,
  type Fix,
  type RepairContext,
  type RepairTools,
  some,
} from './findings.js'

const KINDS: readonly CheckpointKind[] = [
  'save',
  'safety',
  'rewind',
  'undo',
  'redo',
  'recovery',
  'imported',
]

/** Problems of the file, because of which the rows cannot be checked. */
export function checkLedgerFile(
  store: RepairContext,
  { quick }: { readonly quick: boolean },
): Finding[] {
  const { ledger, ledgerFault } = store
  const faults = ledger === undefined ? [] : fileFaults(ledger, quick)
  if (ledger !== undefined && faults.length === 0) return []
  const message =
    ledger === undefined
      ? (ledgerFault ?? 'it cannot be opened')
      : `SQLite finds it damaged: ${some(faults)}`
  return [finding('ledger', message, { path: 'ledger.db', fix: rescueFix(store) })]
}

function fileFaults(ledger: Ledger, quick: boolean): string[] {
  try {
    return ledger.rowChecks.fileFaults({ quick })
  } catch (error) {
    return [isError(error) ? error.message : String(error)]
  }
}

function rescueFix({ home, clock }: RepairContext): Fix {
  const backupMs = backupTimeMs(home)
  const completed =
    backupMs === undefined
      ? ''
      : `, complete it from the ${describeBackup(backupMs, clock.nowMs())}`
  return {
    stage: 'ledger',
    action: `copy what can be read of the ledger into a new one${completed}, and quarantine the old one`,
    run({ store, away }) {
      store.ledger?.abandon()
      rescueLedger(store.home, away)
    },
  }
}

function describeBackup(madeMs: number, nowMs: number): string {
  const hours = Math.max(0, Math.round((nowMs - madeMs) / 3_600_000))
  return `backup of ${new Date(madeMs).toISOString()} (${hours === 1 ? '1 hour' : `${hours} hours`} old)`
}

/** Finds malformed rows, dangling references, and refs without a row. */
export function checkRows(ledger: Ledger, report: ObjectReport): Finding[] {
  const malformed = ledger.rowChecks.rowFaults().map((fault) =>
    finding('ledger', `a row of ${fault.table} is malformed: ${fault.message}`, {
      checkpoint: fault.table === 'checkpoints' ? fault.id : null,
      fix: {
        stage: 'rows',
        action: `correct the row of ${fault.table}, or quarantine it`,
        run: (tools) => repairRow(tools, fault, report),
      },
    }),
  )
  if (malformed.length > 0) return malformed
  const fix: Fix = {
    stage: 'rows',
    action: 'fix rows that refer to missing rows, or quarantine them',
    run: (tools) => repairReferences(tools, report),
  }
  const dangling = ledger.rowChecks.dangling().map((message) => finding('ledger', message, { fix }))
  return [...dangling, ...checkLostRows(ledger, report)]
}

function repairRow({ store, away }: RepairTools, fault: RowFault, report: ObjectReport): void {
  const { ledger } = store
  if (ledger === undefined) return
  const known = readCommits(report).find(
    ({ name, facts }) => name.endsWith(`/${fault.id}`) && facts.checkpoint === fault.id,
  )
  if (fault.table === 'checkpoints' && known !== undefined) {
    ledger.rowChecks.setFiles(fault.id, { tree: known.facts.tree, commit: known.commit })
    const isStillWrong = ledger.rowChecks
      .rowFaults()
      .some(({ table, rowid }) => table === fault.table && rowid === fault.rowid)
    if (!isStillWrong) return
  }
  ledger.rowChecks.removeRow(fault, (row) =>
    away.note(`rows/${fault.table}-${fault.rowid}.json`, JSON.stringify(row, toJsonValue, 2)),
  )
}

function repairReferences({ store, away }: RepairTools, report: ObjectReport): void {
  const { ledger, clock } = store
  if (ledger === undefined) return
  for (const id of ledger.rowChecks.missingProjects()) {
    const known = readCommits(report).find(
      ({ name, facts }) => name.startsWith(`refs/savestate/${id}/`) && facts.project === id,
    )
    const path = known?.facts.projectPath ?? bytePath(`/rescued/${id}`)
    ledger.rowChecks.addProject({ id, path }, clock.nowMs())
  }
  const lost: Damage = {
    paths: [],
    fileCount: 0,
    isUnknown: false,
    state: 'its row in the ledger is lost',
    isStateLost: true,
  }
  ledger.rowChecks.mendReferences({
    atMs: clock.nowMs(),
    stateLost: JSON.stringify(lost),
    keep: (rows) => away.note('rows/without-reference.json', JSON.stringify(rows, toJsonValue, 2)),
  })
}

function toJsonValue(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value
}

type ReferredCommit = {
  readonly name: string
  readonly commit: ObjectId
  readonly facts: CommitMetadata
}

/** The refs whose commit is one of ours and intact. */
function readCommits({ refs, commits }: ObjectReport): ReferredCommit[] {
  return [...refs.commits].flatMap(([name, commit]) => {
    const facts = commits.get(commit)
    return typeof facts === 'object' && facts !== null ? [{ name, commit, facts }] : []
  })
}

/**
 * Finds checkpoints whose rows are lost but whose commits and refs exist. A commit contains enough to list the checkpoint and
 * to rewind to it; names, pins and sessions are lost with the rows. A killed save or prune leaves a ref without a row (I2).
 * Rows count as lost only if the ledger is known to have lost some, or if the ref is newer than every row: a ledger never
 * goes back in time by itself.
 */
function checkLostRows(ledger: Ledger, report: ObjectReport): Finding[] {
  const { rowChecks, record } = ledger
  const newestMs = rowChecks.newestMs()
  const known = rowChecks.allIds()
  const all = readCommits(report)
    .filter(
      ({ name, facts: { checkpoint } }) =>
        name.endsWith(`/${checkpoint}`) && !known.has(checkpoint),
    )
    .sort((a, b) => a.facts.createdAtMs - b.facts.createdAtMs)
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
          for (const one of lost) await relist(now, one)
          now.ledger?.record.setLostRows(false)
        },
      },
    }),
  ]
}

async function relist(
  { ledger, snapshots }: RepairContext,
  { commit, facts }: ReferredCommit,
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
