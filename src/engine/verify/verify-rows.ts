// Checks the ledger: its file, its rows and their references.
import type { Ledger } from '../../ledger/index.js'
import { backupTimeMs, rescueLedger, type RowFault } from '../../ledger/index.js'
import { bytePath, isError } from '../../model/index.js'
import type { ObjectReport } from '../../snapshot/index.js'
import { checkLostRows } from './relist-lost-checkpoints.js'
import type { Damage } from './damage-marks.js'
import { type RepairContext, type Finding, type Fix, type RepairTools, some } from './findings.js'

const DAMAGE = { kind: 'ledger', checkpoint: null, severity: 'damage', repairable: true } as const

/** Problems of the file, because of which the rows cannot be checked. */
export function checkLedgerFile(
  store: RepairContext,
  { quick }: { readonly quick: boolean },
): Finding[] {
  const { ledger, ledgerFault } = store
  const path = 'ledger.db'
  if (ledger === undefined)
    return [
      { ...DAMAGE, path, message: ledgerFault ?? 'it cannot be opened', fix: rescueFix(store) },
    ]
  const faults = fileFaults(ledger, quick)
  const message = `SQLite finds it damaged: ${some(faults)}`
  return faults.length === 0 ? [] : [{ ...DAMAGE, path, message, fix: rescueFix(store) }]
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
  const malformed = ledger.rowChecks.rowFaults().map((fault): Finding => {
    const message = `a row of ${fault.table} is malformed: ${fault.message}`
    const checkpoint = fault.table === 'checkpoints' ? fault.id : null
    const action = `correct the row of ${fault.table}, or quarantine it`
    const run = (tools: RepairTools) => repairRow(tools, fault, report)
    return { ...DAMAGE, checkpoint, message, fix: { stage: 'rows', action, run } }
  })
  if (malformed.length > 0) return malformed
  const dangling = ledger.rowChecks.dangling()
  const action = 'fix rows that refer to missing rows, or quarantine them'
  const run = (tools: RepairTools) => repairReferences(tools, report)
  const findings = dangling.map(
    (message): Finding => ({ ...DAMAGE, message, fix: { stage: 'rows', action, run } }),
  )
  return [...findings, ...checkLostRows(ledger, report)]
}

function repairRow({ store, away }: RepairTools, fault: RowFault, report: ObjectReport): void {
  const { ledger } = store
  if (ledger === undefined) return
  const facts = [...report.refs.commits]
    .filter(([name]) => name.endsWith(`/${fault.id}`))
    .map(([, commit]) => ({ commit, facts: report.commits.get(commit) }))
    .find(
      (each) =>
        each.facts !== null && each.facts !== 'there' && each.facts?.checkpoint === fault.id,
    )
  if (fault.table === 'checkpoints' && facts?.facts !== null && typeof facts?.facts === 'object') {
    ledger.rowChecks.setFiles(fault.id, { tree: facts.facts.tree, commit: facts.commit })
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
    const facts = [...report.refs.commits]
      .filter(([name]) => name.startsWith(`refs/savestate/${id}/`))
      .map(([, commit]) => report.commits.get(commit))
      .find((each) => each !== null && each !== 'there' && each?.project === id)
    const path =
      typeof facts === 'object' && facts !== null ? facts.projectPath : bytePath(`/rescued/${id}`)
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
