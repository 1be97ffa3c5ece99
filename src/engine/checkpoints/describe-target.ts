// Describes a checkpoint in a few words, for reasons that refer to it: `rewind to before "Fix the login" (kfhxqwzt)`.
import { quotableReason, withoutPromptMark, withoutReference } from '../../base/index.js'
import { type Checkpoint, readCheckpointMoment } from '../../model/index.js'

/** Long enough to be unique in any store, and short enough to read and type. */
export const ID_LETTERS = 8
const MAX_WORDS = 80

export function describeTarget(checkpoint: Checkpoint): string {
  const { name, session } = checkpoint
  const isNamed = name !== null || summarizeReason(checkpoint) === ''
  const moment = isNamed ? null : readCheckpointMoment(session?.metadata)
  return `${moment === null ? '' : `${moment} `}${nameTarget(checkpoint)}`
}

/** The same without before or after: `fork of "Fix the login" (kfhxqwzt)`. */
export function nameTarget(checkpoint: Checkpoint): string {
  const id = checkpoint.id.slice(0, ID_LETTERS)
  const words = checkpoint.name ?? summarizeReason(checkpoint)
  return words === '' ? id : `"${words}" (${id})`
}

/** The reason on one line. A rewind to a rewind repeats neither the id nor the quotes of the first. */
function summarizeReason({ reason }: Checkpoint): string {
  const line = (reason ?? '').trim().replace(/\s+/gu, ' ')
  const text = withoutPromptMark(withoutReference(quotableReason(line)))
  return text.length <= MAX_WORDS
    ? text
    : `${text.slice(0, MAX_WORDS - 1).replace(/\p{Cs}$/u, '')}…`
}
