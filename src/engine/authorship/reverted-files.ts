// Lists the files that rewinds, undos and redos changed since a given one, for callers that rely on the old contents, such
// as an agent. Costs one query if there was none.
import * as z from 'zod/mini'
import {
  type BytePath,
  hasFiles,
  type Operation,
  pathText,
  type Project,
} from '../../model/index.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'

export type RevertedResult = {
  /** The newest rewind, undo or redo of the project; null if there is none. */
  readonly newest: string | null
  /** Files that one of the operations since then changed and that differ from before the first of them. */
  readonly files: readonly string[]
}

export const reverted = projectOperation({
  name: 'reverted',
  summary: 'List the files that were restored since a rewind',
  effect: 'reads',
  input: () =>
    z.strictObject({
      /** The last operation that the caller knows; null for none. Without it, only `newest` is returned. */
      since: z.optional(z.nullable(z.string())),
    }),
  async run(context, { since }): Promise<RevertedResult> {
    const project = findKnownProject(context)
    const operations = project === undefined ? [] : context.ledger.operations(project.id)
    const newest = operations.at(-1)?.id ?? null
    if (project === undefined || since === undefined || since === newest)
      return { newest, files: [] }
    // If a prune removed the given operation, all remaining ones are newer: a prune removes the oldest first.
    const fresh = operations.slice(operations.findIndex(({ id }) => id === since) + 1)
    const [first, last] = [fresh[0], fresh.at(-1)]
    if (first === undefined || last === undefined) return { newest, files: [] }
    return context.objects.shared(async () => {
      const touched = new Set<BytePath>()
      for (const one of fresh)
        for (const path of await filesBetween(context, project, one)) touched.add(path)
      // A file that was restored and then undone is as it was.
      const span = { safety: first.safety, result: last.result }
      const different = await filesBetween(context, project, span)
      return { newest, files: different.filter((path) => touched.has(path)).map(pathText) }
    })
  },
})

async function filesBetween(
  { ledger, snapshots }: ProjectContext,
  project: Project,
  { safety, result }: Pick<Operation, 'safety' | 'result'>,
): Promise<readonly BytePath[]> {
  const [before, after] = [ledger.checkpoints.get(safety), ledger.checkpoints.get(result)]
  const isKnown = before?.project === project.id && hasFiles(before)
  if (!isKnown || after === undefined || !hasFiles(after)) return []
  const changes = await snapshots.compare(before.snapshot.tree, after.snapshot.tree, {
    countLines: false,
  })
  return changes.flatMap((change) =>
    (change.after ?? change.before)?.type === 'folder' ? [] : [change.path],
  )
}
