// Compares two checkpoints, or a checkpoint with the folder.
import * as z from 'zod/mini'
import { authorText, type BytePath, isInside } from '../../model/index.js'
import { attributePaths, rangesBetween, rangesSince } from '../authorship/attribution.js'
import type { ProjectContext } from '../operation/context.js'
import { bringNamedFiles } from './files-here.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { totalsOf } from '../../snapshot/index.js'
import { type ComparedEnds, endFields, resolveEnds } from './compared-ends.js'
import { parseProjectPath } from '../operation/project-path.js'
import { type ChangeView, viewChange } from './views.js'

export type DiffChange = ChangeView & {
  /** The author of the change: `you`, the name of an agent, or several joined by `+`. Null if unknown. */
  readonly author: string | null
}

export type DiffResult = {
  /** Null if nothing was saved before the checkpoint, with `previous`. */
  readonly from: string | null
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
      ...endFields(),
      paths: z._default(z.array(z.string()), []),
      patch: z._default(z.enum(['none', 'full', 'stat']), 'full'),
      color: z._default(z.boolean(), false),
      width: z._default(z.int(), 80),
    }),
  async run(context, input, callbacks): Promise<DiffResult> {
    await recoverIfNeeded(context, callbacks)
    await bringNamedFiles(context, [input.from, input.to])
    // A prune must not remove objects while they are compared.
    return context.objects.shared(async () => {
      const { snapshots } = context
      const ends = await resolveEnds(context, input, { callbacks })
      const { project, from, to, before, after } = ends
      const paths = input.paths.map(parseProjectPath)
      const saved = [from, to].flatMap((end) => end?.snapshot.tree ?? [])
      await snapshots.expectPaths(project, { trees: saved, paths })
      const all = await snapshots.compare(before, after, { countLines: true })
      callbacks.signal?.throwIfAborted()
      const changes =
        paths.length === 0
          ? all
          : all.filter(({ path }) => paths.some((limit) => isInside(path, limit)))
      const authorOf = await authorsOf(context, ends)
      callbacks.signal?.throwIfAborted()
      const { color, width } = input
      const stat = input.patch === 'stat'
      return {
        from: from?.id ?? null,
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

async function authorsOf(
  context: ProjectContext,
  { project, from, to, after }: ComparedEnds,
): Promise<(path: BytePath) => string | null> {
  if (from === undefined) return () => authorText(to?.authors ?? null)
  const ranges =
    to === undefined
      ? rangesSince(context, project, { from: from.id, now: after })
      : rangesBetween(context, project, [from.id, to.id])
  return attributePaths(context, ranges)
}
