// The errors for a reference that names no checkpoint, or more than one.
import {
  type Checkpoint,
  type CheckpointKind,
  MIN_PREFIX,
  SavestateError,
  uniquePrefix,
} from '../../model/index.js'

/** How many candidates a message lists. */
export const MAX_CANDIDATES = 5
const MAX_REASON_CHARS = 50
/** git's way to count back from the newest commit. */
const GIT_STYLE = /^(?:HEAD|@)(?:~(\d*)|(\^+))?$/

/** `count`: how many checkpoints there are. `hint`: where to see them. */
export function unknownReference(
  text: string,
  { count, hint }: { readonly count: number; readonly hint: string },
): SavestateError {
  return new SavestateError('CHECKPOINT_UNKNOWN', describeProblem(text, count), { hint })
}

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
