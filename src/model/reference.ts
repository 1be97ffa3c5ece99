// How a person names a checkpoint: an id, the start of one, a number from `list`, or a name.
import { SavestateError } from './errors.js'

export type Reference =
  | { readonly type: 'number'; readonly number: number }
  | { readonly type: 'text'; readonly text: string }

export const MIN_PREFIX = 4
const MAX_NAME = 200
/** A surrogate without its other half: UTF-8 has no form for it, so that two such texts would become one. */
const HALF_CHARACTER = /[\ud800-\udfff]/u

/** Whether the ledger keeps it as it is. SQLite ends a text at NUL, so that two of them would be one there. */
export function isWholeText(text: string): boolean {
  return !text.includes('\0') && !HALF_CHARACTER.test(text)
}

/** For what a caller hands over to be kept, or looked for, as it is. `what` begins a sentence. */
export function parseWholeText(text: unknown, what: string): string {
  if (typeof text === 'string' && isWholeText(text)) return text
  throw new SavestateError('BAD_INPUT', `${what} is a text of whole characters, without NUL`)
}

export function parseReference(text: string): Reference {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return { type: 'number', number: Number(text) }
  if (text.length > 0 && text.length <= MAX_NAME && isWholeText(text)) return { type: 'text', text }
  throw new SavestateError('BAD_INPUT', 'A checkpoint reference is an id, a number or a name', {
    hint: '`savestate list` shows them.',
  })
}

export function parseName(text: string): string {
  const name = text.trim()
  const fault =
    name === ''
      ? 'is empty'
      : name.length > MAX_NAME
        ? `is longer than ${MAX_NAME} characters`
        : /^[0-9]+$/.test(name)
          ? 'is a number, which would read as a place in the list'
          : name.startsWith('-')
            ? 'starts with a dash'
            : /\p{Cc}/u.test(name)
              ? 'has a control character in it'
              : HALF_CHARACTER.test(name)
                ? 'has half a character in it'
                : undefined
  if (fault === undefined) return name
  throw new SavestateError(
    'BAD_INPUT',
    `A checkpoint name must not be so: ${JSON.stringify(name.slice(0, 60))} ${fault}`,
  )
}

export function parseReason(text: string): string {
  if (!text.includes('\0') && text.length <= 10_000) return text
  throw new SavestateError('BAD_INPUT', 'A reason has at most 10,000 characters and no NUL')
}
