// A range of checkpoints as users type it, `A..B`: after A, up to B.
import {
  type Checkpoint,
  type FilesCheckpoint,
  hasFiles,
  type Project,
  SavestateError,
} from '../../model/index.js'
import type { ProjectContext } from '../operation/context.js'
import { resolve, withFiles } from '../checkpoints/resolve-ref.js'

export type CheckpointRange = {
  /** Undefined: from the first checkpoint on. */
  readonly from: FilesCheckpoint | undefined
  /** Those after `from` up to the last one, oldest first, without those that the store has lost a part of. */
  readonly steps: readonly FilesCheckpoint[]
}

/** `A..` ends with the newest checkpoint, `..B` begins with the first. Throws BAD_INPUT. */
export function resolveRange(
  context: ProjectContext,
  project: Project | undefined,
  text: string,
): CheckpointRange {
  const { ledger } = context
  const { from, to } = resolveEnds(context, project, text)
  const all = project === undefined ? [] : ledger.checkpoints.briefs({ project: project.id })
  const damaged = ledger.marks.damaged()
  const ids = all.flatMap(({ id, hasFiles: isWhole }) => (isWhole ? [id] : [])).reverse()
  const first = from === undefined ? 0 : ids.indexOf(from.id) + 1
  const last = to === undefined ? ids.length - 1 : ids.indexOf(to.id)
  if (from !== undefined && to !== undefined && last < first - 1)
    throw new SavestateError('BAD_INPUT', `In ${JSON.stringify(text)} the newer one comes first`, {
      hint: 'Write the older checkpoint first. Number 1 is the newest: 5..1 is the last four.',
    })
  const steps = ids.slice(first, last + 1).flatMap((id) => {
    const found = damaged.has(id) ? undefined : ledger.checkpoints.get(id)
    return found !== undefined && hasFiles(found) ? [found] : []
  })
  return { from, steps }
}

/** Names may contain dots, so every `..` is tried. */
function resolveEnds(context: ProjectContext, project: Project | undefined, text: string) {
  const splits = [...text.matchAll(/(?=\.\.)/g)].map(({ index }) => index)
  if (splits.length === 0)
    throw new SavestateError('BAD_INPUT', `${JSON.stringify(text)} is not a range`, {
      hint: 'Write A..B for the checkpoints after A up to B, as in 5..1.',
    })
  const find = (ref: string): Checkpoint | undefined =>
    ref === '' ? undefined : resolve(context.ledger, project, ref)
  let fault: unknown
  for (const at of splits) {
    try {
      const [from, to] = [find(text.slice(0, at)), find(text.slice(at + 2))]
      return { from: from && withFiles(from), to: to && withFiles(to) }
    } catch (error) {
      if (!(error instanceof SavestateError) || error.code !== 'CHECKPOINT_UNKNOWN') throw error
      fault ??= error
    }
  }
  throw fault
}
