// Resolves a reference that the user typed to a checkpoint of this project or session, never of another.
import type { Ledger, Scope } from '../../ledger/index.js'
import {
  type Checkpoint,
  type FilesCheckpoint,
  hasFiles,
  MIN_PREFIX,
  parseCheckpointId,
  parseReference,
  type Project,
  SavestateError,
  type SessionKey,
} from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import { ambiguousReference, MAX_CANDIDATES, unknownReference } from './unknown-reference.js'

export function resolve(ledger: Ledger, project: Project | undefined, text: string): Checkpoint {
  if (project !== undefined)
    return resolveIn(ledger, { project: project.id }, text, {
      isIn: (checkpoint) => checkpoint.project === project.id,
      hint: '`savestate list` shows the checkpoints of this project.',
    })
  parseReference(text)
  throw new SavestateError('CHECKPOINT_UNKNOWN', 'Nothing has been saved in this folder yet', {
    hint: 'Save it with: savestate save',
  })
}

export function resolveInSession(
  { ledger }: StoreContext,
  session: SessionKey,
  text: string,
): Checkpoint {
  return resolveIn(ledger, { session }, text, {
    isIn: (checkpoint) => checkpoint.session?.key === session,
    hint: '`savestate list --session` shows the checkpoints of a session.',
  })
}

/** Order: number, whole id, name, start of an id. */
function resolveIn(
  { checkpoints }: Ledger,
  scope: Scope,
  text: string,
  { isIn, hint }: { readonly isIn: (checkpoint: Checkpoint) => boolean; readonly hint: string },
): Checkpoint {
  const reference = parseReference(text)
  const unknown = () => unknownReference(text, { count: checkpoints.count(scope), hint })
  if (reference.type === 'number') {
    const found = checkpoints.byNumber(scope, reference.number)
    if (found !== undefined) return found
    throw unknown()
  }
  const isWhole = /^[bcdfghjklmnpqrstvwxz]{18}$/.test(text)
  const whole = isWhole ? checkpoints.get(parseCheckpointId(text)) : undefined
  if (whole !== undefined && isIn(whole)) return whole
  const named = checkpoints.byName(scope, text)
  if (named !== undefined) return named
  if (text.length < MIN_PREFIX) throw unknown()
  const candidates = checkpoints.byPrefix(scope, text, { limit: MAX_CANDIDATES + 1 })
  const [first, second] = candidates
  if (first === undefined) throw unknown()
  if (second === undefined) return first
  throw ambiguousReference(text, candidates)
}

/** For operations that need the files of a checkpoint. */
export function withFiles(checkpoint: Checkpoint): FilesCheckpoint {
  if (hasFiles(checkpoint)) return checkpoint
  const isPruned = checkpoint.filesPruned === true
  const what = isPruned
    ? `The files of checkpoint ${checkpoint.id} were pruned`
    : `Checkpoint ${checkpoint.id} has no files`
  const why = isPruned
    ? 'Its state is still there'
    : 'Only a state was saved, or an older version of Savestate pruned the files'
  throw new SavestateError('CHECKPOINT_PARTIAL', what, {
    hint: `${why}: \`savestate rewind --state\` goes back to that.`,
  })
}
