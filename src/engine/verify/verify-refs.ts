// Checks that every row has its commit and a ref to it (I1). A commit can be recreated from its row, a ref from either.
import type { FilesRow, Ledger } from '../../ledger/index.js'
import type { CommitMetadata, ObjectReport } from '../../snapshot/index.js'
import { type ObjectId, pathText, type Project } from '../../model/index.js'
import { type RepairContext, type Finding, finding, type Fix } from './findings.js'

type Checked = { readonly row: FilesRow; readonly project: Project; readonly name: string }

export function checkRefs(
  { snapshots }: RepairContext,
  ledger: Ledger,
  report: ObjectReport,
): Finding[] {
  const projects = new Map(ledger.projects().map(({ project }) => [project.id, project]))
  return ledger.rowChecks.filesRows().flatMap((row) => {
    const project = projects.get(row.project)
    // A row without its project is reported by `checkRows`.
    if (project === undefined) return []
    return checkRef({ row, project, name: snapshots.refOf(project, row.id) }, report) ?? []
  })
}

function checkRef(checked: Checked, report: ObjectReport): Finding | undefined {
  const { row, project, name } = checked
  const held = report.refs.commits.get(name)
  const own = report.commits.get(row.commit) ?? null
  const other = held === undefined ? null : (report.commits.get(held) ?? null)
  const found = (message: string, fix: Fix) => finding('ref', message, { checkpoint: row.id, fix })
  const isSound = own !== null && (!isOf(own, row) || own.tree === row.tree)
  if (isSound && held === row.commit) return undefined
  // If the row agrees with its own commit, the ref is wrong: a killed forget leaves a ref to the old commit.
  if (isSound) {
    const message =
      held === undefined
        ? `no ref points to this checkpoint of ${pathText(project.path)}`
        : `its ref points to commit ${held}, not ${row.commit}`
    return found(message, recreateRef(checked))
  }
  if (isOf(own, row))
    return found(
      `its commit has tree ${own.tree}, not ${row.tree}`,
      correctRow(row, { tree: own.tree, commit: row.commit }),
    )
  // The row's commit is missing, and the commit of the ref names this checkpoint.
  if (held !== undefined && isOf(other, row))
    return found(
      `its ref points to commit ${held} with tree ${other.tree}, not ${row.commit} with ${row.tree}`,
      correctRow(row, { tree: other.tree, commit: held }),
    )
  const message = `its commit ${row.commit} is missing or damaged`
  return finding('objects', message, { checkpoint: row.id, fix: recreateCommit(checked) })
}

function isOf(facts: CommitMetadata | 'there' | null, row: FilesRow): facts is CommitMetadata {
  return facts !== null && facts !== 'there' && facts.checkpoint === row.id
}

function recreateRef({ row, name }: Checked): Fix {
  return {
    stage: 'refs',
    action: `recreate the ref of ${row.id}`,
    async run({ store, aside }) {
      await store.snapshots.mend({ type: 'ref', name, commit: row.commit }, aside)
    },
  }
}

function correctRow({ id }: FilesRow, right: Record<'tree' | 'commit', ObjectId>): Fix {
  return {
    stage: 'refs',
    action: `correct the ledger row of ${id} from its commit`,
    run: ({ store }) => store.ledger?.rowChecks.setFiles(id, right),
  }
}

/** The commit has the same id unless the row was changed since; then the row gets the new id. */
function recreateCommit({ row, project, name }: Checked): Fix {
  return {
    stage: 'refs',
    action: `recreate the commit of ${row.id}`,
    async run({ store, aside }) {
      const { id: checkpoint, tree, kind, reason, createdAtMs } = row
      const of = { checkpoint, project: project.id, projectPath: project.path }
      const facts = { tree, kind, reason, createdAtMs, ...of }
      const commit = await store.snapshots.mend({ type: 'commit', facts }, aside)
      if (commit === undefined) return
      await store.snapshots.mend({ type: 'ref', name, commit }, aside)
      if (commit !== row.commit) store.ledger?.rowChecks.setFiles(row.id, { tree, commit })
    },
  }
}
