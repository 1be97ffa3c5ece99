// Every row has its commit, and a ref that holds it (I1). The commit can be made from the row, and the ref from the commit.
import type { FilesRow, Ledger } from '../ledger/index.js'
import { type CommitFacts, type ObjectReport } from '../snapshot/index.js'
import { type ObjectId, pathText, type Project } from '../model/index.js'
import type { CareContext, Finding, Fix, RepairTools } from './findings.js'

type RefWork = {
  readonly row: FilesRow
  readonly project: Project
  readonly name: string
}

export function checkRefs(
  { snapshots }: CareContext,
  ledger: Ledger,
  report: ObjectReport,
): Finding[] {
  const projects = new Map(ledger.projects().map(({ project }) => [project.id, project]))
  return ledger.rowChecks.filesRows().flatMap((row): Finding[] => {
    const project = projects.get(row.project)
    // Told as a row that refers to nothing.
    if (project === undefined) return []
    const name = snapshots.refOf(project, row.id)
    return refFindings({ row, project, name }, report)
  })
}

function refFindings(work: RefWork, report: ObjectReport): Finding[] {
  const { row, project, name } = work
  const held = report.refs.commits.get(name)
  const own = report.commits.get(row.commit) ?? null
  const other = held === undefined ? null : (report.commits.get(held) ?? null)
  const found = { checkpoint: row.id, severity: 'damage', repairable: true } as const
  const isSound = own !== null && (!isOf(own, row) || own.tree === row.tree)
  if (isSound && held === row.commit) return []
  // The row is right if its own commit agrees: a forget that was stopped leaves the ref to the old one.
  if (isSound) {
    const message =
      held === undefined
        ? `no ref points to this checkpoint of ${pathText(project.path)}`
        : `its ref points to commit ${held}, not ${row.commit}`
    return [{ ...found, kind: 'ref', message, fix: makeRef(work) }]
  }
  if (isOf(own, row)) {
    const message = `its commit has tree ${own.tree}, not ${row.tree}`
    const fix = correctRow(row, { tree: own.tree, commit: row.commit })
    return [{ ...found, kind: 'ref', message, fix }]
  }
  // What the ref holds says of itself that it is this checkpoint, and what the row names is not there.
  if (held !== undefined && isOf(other, row)) {
    const message = `its ref points to commit ${held} with tree ${other.tree}, not ${row.commit} with ${row.tree}`
    const fix = correctRow(row, { tree: other.tree, commit: held })
    return [{ ...found, kind: 'ref', message, fix }]
  }
  const message = `its commit ${row.commit} is missing or damaged`
  return [{ ...found, kind: 'objects', message, fix: makeCommit(work) }]
}

function makeRef({ row, name }: RefWork): Fix {
  return {
    stage: 'refs',
    action: `recreate the ref of ${row.id}`,
    async run({ care, aside }: RepairTools) {
      await care.snapshots.mend({ type: 'ref', name, commit: row.commit }, aside)
    },
  }
}

function isOf(facts: CommitFacts | 'there' | null, row: FilesRow): facts is CommitFacts {
  return facts !== null && facts !== 'there' && facts.checkpoint === row.id
}

function correctRow(
  { id }: FilesRow,
  right: { readonly tree: ObjectId; readonly commit: ObjectId },
): Fix {
  return {
    stage: 'refs',
    action: `correct the ledger row of ${id} from its commit`,
    run: ({ care }) => care.ledger?.rowChecks.setFiles(id, right),
  }
}

/** The same bytes come out unless the row was changed since; then a new commit takes its place. */
function makeCommit({ row, project, name }: RefWork): Fix {
  return {
    stage: 'refs',
    action: `recreate the commit of ${row.id}`,
    async run({ care, aside }) {
      const { tree, kind, reason, createdAtMs } = row
      const facts = {
        tree,
        kind,
        reason,
        createdAtMs,
        checkpoint: row.id,
        project: project.id,
        projectPath: project.path,
      }
      const commit = await care.snapshots.mend({ type: 'commit', facts }, aside)
      if (commit === undefined) return
      await care.snapshots.mend({ type: 'ref', name, commit }, aside)
      if (commit !== row.commit) care.ledger?.rowChecks.setFiles(row.id, { tree, commit })
    },
  }
}
