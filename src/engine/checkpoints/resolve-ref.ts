// Resolves a reference that the user typed to a checkpoint of this project or session, never of another, and explains
// references that name no checkpoint or more than one.
import type { Ledger, Scope } from '../../ledger/index.js'
import {
  type Checkpoint,
  type CheckpointKind,
  type FilesCheckpoint,
  hasFiles,
  MIN_PREFIX,
  parseReference,
  type Project,
  SavestateError,
  type SessionKey,
  uniquePrefix,
} from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

export function resolve(ledger: Ledger, project: Project | undefined, text: string): Checkpoint {
  if (project !== undefined) return resolveIn(ledger, { project: project.id }, text)
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
  return resolveIn(ledger, { session }, text)
}

/** Order: number, whole id, name, start of an id. */
function resolveIn({ checkpoints }: Ledger, scope: Scope, text: string): Checkpoint {
  const reference = parseReference(text)
  const candidates =
    text.length < MIN_PREFIX ? [] : checkpoints.byPrefix(scope, text, { limit: MAX_CANDIDATES + 1 })
  const found =
    reference.type === 'number'
      ? checkpoints.byNumber(scope, reference.number)
      : (candidates.find(({ id }) => id === text) ?? checkpoints.byName(scope, text))
  if (found !== undefined) return found
  const [first, second] = candidates
  if (second !== undefined) throw ambiguousReference(text, candidates)
  if (first !== undefined) return first
  throw new SavestateError('CHECKPOINT_UNKNOWN', describeProblem(text, checkpoints.count(scope)), {
    hint:
      'project' in scope
        ? '`savestate list` shows the checkpoints of this project.'
        : '`savestate list --session` shows the checkpoints of a session.',
  })
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

/** How many candidates a message lists. */
const MAX_CANDIDATES = 5
const MAX_REASON_CHARS = 50
/** git's way to count back from the newest commit. */
const GIT_STYLE = /^(?:HEAD|@)(?:~(\d*)|(\^+))?$/

/** `count`: how many checkpoints there are. */
function describeProblem(text: string, count: number): string {
  const shown = JSON.stringify(text)
  const range =
    count === 1 ? 'there is only number 1' : `the numbers go from 1 (the newest) to ${count}`
  if (count > 0 && /^[1-9][0-9]*$/.test(text)) return `There is no checkpoint ${text}: ${range}`
  if (/^-?[0-9]+$/.test(text)) return `${shown} is not a checkpoint: numbers start at 1, the newest`
  const gitStyle = GIT_STYLE.exec(text)
  if (gitStyle !== null) {
    const [, tilde, carets] = gitStyle
    const back = carets?.length ?? (tilde === '' ? 1 : Number(tilde ?? 0))
    return `${shown} is not a checkpoint: numbers start at 1, the newest. Type ${back + 1} instead`
  }
  return text.length < MIN_PREFIX
    ? `No checkpoint has the name ${shown}, and an id needs at least ${MIN_PREFIX} letters`
    : `No checkpoint has the name ${shown} or an id starting with it`
}

/** `candidates`: newest first. The message lists MAX_CANDIDATES of them and "and more" for the rest. */
export function ambiguousReference(
  text: string,
  candidates: readonly Checkpoint[],
): SavestateError {
  const others = (id: string) => candidates.flatMap((it) => (it.id === id ? [] : it.id))
  const lines = candidates.slice(0, MAX_CANDIDATES).map((checkpoint) => {
    const { id } = checkpoint
    return `  ${uniquePrefix(id, others(id), MIN_PREFIX)}  ${describe(checkpoint)}`
  })
  const more = candidates.length > MAX_CANDIDATES ? ['  and more'] : []
  return new SavestateError(
    'CHECKPOINT_AMBIGUOUS',
    `More than one checkpoint id starts with ${JSON.stringify(text)}`,
    { hint: ['Type more letters:', ...lines, ...more].join('\n') },
  )
}

const KINDS: Readonly<Record<CheckpointKind, string>> = {
  save: 'saved',
  safety: 'saved before a rewind',
  rewind: 'a rewind',
  undo: 'an undo',
  redo: 'a redo',
  recovery: 'saved after an interrupted rewind',
  imported: 'imported',
}

function describe({ name, reason, kind, createdAtMs }: Checkpoint): string {
  const what = (name ?? reason ?? KINDS[kind]).split('\n')[0] ?? ''
  const time = new Date(createdAtMs).toISOString().slice(0, 19).replace('T', ' ')
  return `${time} UTC  ${what.slice(0, MAX_REASON_CHARS)}`
}
