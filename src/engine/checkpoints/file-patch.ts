// The patch of one file between two checkpoints, or between a checkpoint and the folder.
import * as z from 'zod/mini'
import { pathText, printablePath, SavestateError } from '../../model/index.js'
import type { Hunk, PatchKind } from '../../snapshot/index.js'
import { bringNamedFiles } from './files-here.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { parseProjectPath } from '../operation/project-path.js'
import { endFields, resolveEnds } from './compared-ends.js'
import { viewChange } from './views.js'

export type PatchHunk = Hunk

export type FilePatch = {
  readonly path: string
  /**
   * `large`: the patch has more than 10 MB, and `hunks` is empty. `unchanged`: the contents are equal, but the modes may differ.
   * `folder`: there is no file on either side.
   */
  readonly kind: PatchKind
  /** Identifies this patch for a choice of its hunks: see `hunks` of `project.rewind`. */
  readonly mark: string
  /** In bytes; null if that side has no file. */
  readonly sizeBefore: number | null
  readonly sizeAfter: number | null
  /** Octal; null for links and missing entries. */
  readonly modeBefore: string | null
  readonly modeAfter: string | null
  /** Null if the lines were not compared. */
  readonly insertions: number | null
  readonly deletions: number | null
  readonly hunks: readonly PatchHunk[]
}

const MAX_CONTEXT = 100_000

export const filePatch = projectOperation({
  name: 'patch',
  summary: 'Show what changed in one file',
  effect: 'reads',
  input: () =>
    z.strictObject({
      ...endFields(),
      path: z.string(),
      /** How many unchanged lines to show around a change. */
      context: z._default(z.int().check(z.minimum(0), z.maximum(MAX_CONTEXT)), 3),
    }),
  async run(
    context,
    { path: text, context: contextLines, ...ends },
    callbacks,
  ): Promise<FilePatch> {
    const path = parseProjectPath(text)
    await recoverIfNeeded(context, callbacks)
    await bringNamedFiles(context, [ends.from, ends.to])
    // A prune must not remove objects while they are compared.
    return context.objects.shared(async () => {
      const { before, after } = await resolveEnds(context, ends, { paths: [path], callbacks })
      const request = { before, after, path, context: contextLines }
      const patch = await context.snapshots.filePatch(request, { signal: callbacks.signal })
      if (patch === undefined)
        throw new SavestateError('BAD_INPUT', `Neither side has ${printablePath(path)}`, {
          hint: 'Paths are relative to the project.',
        })
      const { change, kind, mark, sizeBefore, sizeAfter, insertions, deletions, hunks } = patch
      const { modeBefore, modeAfter } = viewChange(change)
      const sizes = { sizeBefore, sizeAfter }
      const modes = { modeBefore, modeAfter }
      return { path: pathText(path), kind, mark, ...sizes, ...modes, insertions, deletions, hunks }
    })
  },
})
