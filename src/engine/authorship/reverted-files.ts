// Which files rewinds, undos and redos have brought back since one of them: for who relies on what they held. Costs one
// query if there was none.
import * as z from 'zod/mini'
import {
  type BytePath,
  hasFiles,
  type Operation,
  pathText,
  type Project,
} from '../../model/index.js'
import { knownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'

export type RevertedResult = {
  /** The newest rewind, undo or redo of the project; null if there is none. */
  readonly newest: string | null
  /** Files that are not as they were before the first of those since then, and were changed by one of them. */
  readonly files: readonly string[]
}

export const reverted = projectOperation({
  name: 'reverted',
  summary: 'List the files that were restored since a rewind',
  effect: 'reads',
  input: () =>
    z.strictObject({
      /** The last one that is known; null for none; left out: nothing is asked but which is the newest. */
      since: z.optional(z.nullable(z.string())),
    }),
  async run(context, { since }): Promise<RevertedResult> {
    const project = knownProject(context)
    const operations = project === undefined ? [] : context.ledger.operations(project.id)
    const newest = operations.at(-1)?.id ?? null
    if (project === undefined || since === undefined || since === newest)
      return { newest, files: [] }
    const fresh = operationsAfter(operations, since)
    const paths = await context.objects.shared(() => changedBy(context, project, fresh))
    return { newest, files: paths.map(pathText) }
  },
})

/** If a prune removed the known one, all that are left are newer: a prune removes the oldest first. */
function operationsAfter(
  operations: readonly Operation[],
  since: string | null,
): readonly Operation[] {
  if (since === null) return operations
  const at = operations.findIndex(({ id }) => id === since)
  return operations.slice(at + 1)
}

async function changedBy(
  context: ProjectContext,
  project: Project,
  operations: readonly Operation[],
): Promise<readonly BytePath[]> {
  const [first, last] = [operations[0], operations.at(-1)]
  if (first === undefined || last === undefined) return []
  const touched = new Set<BytePath>()
  for (const one of operations)
    for (const path of await filesBetween(context, project, one)) touched.add(path)
  // What was brought back and then undone is as it was.
  const { safety } = first
  const different = await filesBetween(context, project, { safety, result: last.result })
  return different.filter((path) => touched.has(path))
}

async function filesBetween(
  { ledger, snapshots }: ProjectContext,
  project: Project,
  { safety, result }: Pick<Operation, 'safety' | 'result'>,
): Promise<readonly BytePath[]> {
  const [before, after] = [ledger.checkpoints.get(safety), ledger.checkpoints.get(result)]
  const isThere = before?.project === project.id && hasFiles(before)
  if (!isThere || after === undefined || !hasFiles(after)) return []
  const changes = await snapshots.compare(before.snapshot.tree, after.snapshot.tree, {
    countLines: false,
  })
  return changes.flatMap((change) =>
    (change.after ?? change.before)?.type === 'folder' ? [] : [change.path],
  )
}
