// Compares two checkpoints, or a checkpoint with the folder.
import * as z from 'zod/mini'
import { invariant, isInside, type ObjectId } from '../../model/index.js'
import { attributePaths, rangesBetween, rangesSince } from '../authorship/attribution.js'
import { captureNow } from './capture.js'
import { ensureProject, findKnownProject, type ProjectContext } from '../operation/context.js'
import { refuseDamagedFiles } from '../verify/damage-marks.js'
import type { Callbacks } from '../operation/callbacks.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded, withRecoveredProject } from '../restore/recover.js'
import { totalsOf } from '../../snapshot/index.js'
import { resolve, withFiles } from './resolve-ref.js'
import { parseProjectPath } from '../restore/rewind.js'
import { type ChangeView, viewChange } from './views.js'

export type DiffChange = ChangeView & {
  /** The author of the change: `you`, the name of an agent, or several joined by `+`. Null if unknown. */
  readonly author: string | null
}

export type DiffResult = {
  readonly from: string
  /** Null for the folder as it is. */
  readonly to: string | null
  readonly files: number
  readonly insertions: number
  readonly deletions: number
  readonly changes: readonly DiffChange[]
  /** In git's format; null if the caller did not request it. */
  readonly patch: string | null
}

export const diff = projectOperation({
  name: 'diff',
  summary: 'Show what changed since a checkpoint, or between two',
  effect: 'reads',
  input: () =>
    z.strictObject({
      from: z.string(),
      to: z.optional(z.string()),
      paths: z._default(z.array(z.string()), []),
      patch: z._default(z.enum(['none', 'full', 'stat']), 'full'),
      color: z._default(z.boolean(), false),
      width: z._default(z.int(), 80),
    }),
  async run(context, input, callbacks): Promise<DiffResult> {
    await recoverIfNeeded(context, callbacks)
    // A prune must not remove objects while they are compared.
    return context.objects.shared(async () => {
      const { ledger, snapshots } = context
      const project = findKnownProject(context)
      const from = withFiles(resolve(ledger, project, input.from))
      const to = input.to === undefined ? undefined : withFiles(resolve(ledger, project, input.to))
      for (const end of to === undefined ? [from] : [from, to]) refuseDamagedFiles(ledger, end)
      invariant(project !== undefined, 'a checkpoint was resolved in a project')
      const before = from.snapshot.tree
      const after = to?.snapshot.tree ?? (await captureFolder(context, before, callbacks))
      const paths = input.paths.map(parseProjectPath)
      const trees = to === undefined ? [before] : [before, after]
      await snapshots.expectPaths(project, { trees, paths })
      const all = await snapshots.compare(before, after, { countLines: true })
      callbacks.signal?.throwIfAborted()
      const changes =
        paths.length === 0
          ? all
          : all.filter(({ path }) => paths.some((limit) => isInside(path, limit)))
      const ranges =
        to === undefined
          ? rangesSince(context, project, { from: from.id, now: after })
          : rangesBetween(context, project, [from.id, to.id])
      const authorOf = await attributePaths(context, ranges)
      callbacks.signal?.throwIfAborted()
      const { color, width } = input
      const stat = input.patch === 'stat'
      return {
        from: from.id,
        to: to?.id ?? null,
        ...totalsOf(changes),
        changes: changes.map((change) => ({
          ...viewChange(change),
          author: authorOf(change.path),
        })),
        patch:
          input.patch === 'none'
            ? null
            : await snapshots.patch({ before, after, paths, color, stat, width }),
      }
    })
  },
})

/** Makes a snapshot of the folder without a checkpoint. The next save reuses its objects, or a prune removes them. */
async function captureFolder(
  context: ProjectContext,
  tree: ObjectId,
  callbacks: Callbacks,
): Promise<ObjectId> {
  const project = ensureProject(context)
  return withRecoveredProject(context, project, {
    purpose: 'diff',
    callbacks,
    work: async () => {
      const { snapshot } = await captureNow(context, project, { named: { tree }, callbacks })
      return snapshot.tree
    },
  })
}
