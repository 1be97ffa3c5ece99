// A checkpoint in a few words, for the reasons of rows that refer to it: `rewind to before "Fix the login" (kfhxqwzt)`.
import { type Checkpoint, momentOfMetadata } from '../model/index.js'

/** Enough to be unique in any store, and short enough to read and to type. */
export const ID_LETTERS = 8
const MAX_WORDS = 80

export function describeTarget(checkpoint: Checkpoint): string {
  const { name, session } = checkpoint
  const id = checkpoint.id.slice(0, ID_LETTERS)
  const words = name ?? wordsOf(checkpoint)
  if (words === '') return id
  const moment = name === null ? momentOfMetadata(session?.metadata) : null
  return `${moment === null ? '' : `${moment} `}"${words}" (${id})`
}

/** The reason on one line. A rewind to a rewind does not repeat the id of the first. */
function wordsOf({ reason, kind }: Checkpoint): string {
  const line = (reason ?? '').trim().replace(/\s+/gu, ' ')
  const prompt = line.replace(/^You: /, '')
  const text = kind === 'save' ? prompt : line.replace(/ \([bcdfghjklmnpqrstvwxz]{8}\)$/, '')
  return text.length <= MAX_WORDS
    ? text
    : `${text.slice(0, MAX_WORDS - 1).replace(/\p{Cs}$/u, '')}…`
}
