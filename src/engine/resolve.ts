// From a reference that the user typed to a checkpoint of this project, and of no other.
import type { Ledger } from '../ledger/index.js'
import {
  type Checkpoint,
  type FilesCheckpoint,
  hasFiles,
  MIN_PREFIX,
  parseCheckpointId,
  parseReference,
  type Project,
  SavestateError,
} from '../model/index.js'
import { ambiguousReference, MAX_CANDIDATES, unknownReference } from './unknown-reference.js'

const LIST_HINT = '`savestate list` shows the checkpoints of this project.'

/** Order: whole id, name, number, start of an id. */
export function resolve(ledger: Ledger, project: Project | undefined, text: string): Checkpoint {
  const reference = parseReference(text)
  if (project === undefined) throw nothingSaved()
  const scope = { project: project.id }
  const { checkpoints } = ledger
  const unknown = () => unknownReference(text, { count: checkpoints.count(scope), hint: LIST_HINT })
  if (reference.type === 'number') {
    const found = checkpoints.byNumber(scope, reference.number)
    if (found !== undefined) return found
    throw unknown()
  }
  const named = byId(ledger, project, text) ?? checkpoints.byName(scope, text)
  if (named !== undefined) return named
  if (text.length < MIN_PREFIX) throw unknown()
  const candidates = checkpoints.byPrefix(scope, text, { limit: MAX_CANDIDATES + 1 })
  const [first, second] = candidates
  if (first === undefined) throw unknown()
  if (second === undefined) return first
  throw ambiguousReference(text, candidates)
}

/** For what needs the files of a checkpoint. */
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

function byId(ledger: Ledger, project: Project, text: string): Checkpoint | undefined {
  if (!/^[a-z]{18}$/.test(text)) return undefined
  try {
    const found = ledger.checkpoints.get(parseCheckpointId(text))
    return found?.project === project.id ? found : undefined
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'BAD_INPUT') return undefined
    throw error
  }
}

function nothingSaved(): SavestateError {
  return new SavestateError('CHECKPOINT_UNKNOWN', 'Nothing has been saved in this folder yet', {
    hint: 'Save it with: savestate save',
  })
}
