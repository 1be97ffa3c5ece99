// How users name a checkpoint: an id, the start of one, a number from `list`, or a name.
import { SavestateError } from './errors.js'

export type Reference =
  | { readonly type: 'number'; readonly number: number }
  | { readonly type: 'text'; readonly text: string }

export const MIN_PREFIX = 4
const MAX_NAME = 200
/** A lone surrogate: UTF-8 cannot represent it, so two different texts would be stored as the same. */
const HALF_CHARACTER = /[\ud800-\udfff]/u

/** Whether the ledger stores the text exactly. SQLite ends a text at NUL, and UTF-8 has no lone surrogates. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && !HALF_CHARACTER.test(text)
}

/** For text from a caller that is stored or searched for exactly. `what` begins a sentence. */
export function parseStorableText(text: unknown, what: string): string {
  if (typeof text === 'string' && isStorableText(text)) return text
  throw new SavestateError('BAD_INPUT', `${what} must be a string of valid Unicode without NUL`)
}

export function parseReference(text: string): Reference {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return { type: 'number', number: Number(text) }
  if (text.length > 0 && text.length <= MAX_NAME && isStorableText(text))
    return { type: 'text', text }
  throw new SavestateError('BAD_INPUT', 'A checkpoint reference is an id, a number or a name', {
    hint: '`savestate list` shows the ids, numbers and names.',
  })
}

export function parseName(text: string): string {
  const name = text.trim()
  if (name === '') {
    throw new SavestateError('BAD_INPUT', 'A name cannot be empty', {
      hint: 'To remove the name of a checkpoint: savestate name <ref> --remove',
    })
  }
  const fault = nameFault(name)
  if (fault === undefined) return name
  const shown = JSON.stringify(name.slice(0, 60))
  throw new SavestateError('BAD_INPUT', `${shown} cannot be a name: ${fault}`)
}

/** Whether the user or an agent gave the name. */
export type NamedBy = 'user' | 'agent'

/** Excludes everything that a shell, a terminal or a user could misread. */
const AGENT_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._:/@+-]*$/u

/** A name given by an agent: users will see it and type it. */
export function parseAgentName(text: string): string {
  const name = parseName(text)
  if (AGENT_NAME.test(name)) return name
  const shown = JSON.stringify(name.slice(0, 60))
  throw new SavestateError('BAD_INPUT', `${shown} cannot be a name that an agent gives`, {
    hint: 'Use letters, digits, spaces and . _ : / @ + - only, beginning with a letter or a digit.',
  })
}

function nameFault(name: string): string | undefined {
  if (name.length > MAX_NAME) return `it is longer than ${MAX_NAME} characters`
  if (/^[0-9]+$/.test(name)) return 'it would be read as a position in the list'
  if (name.startsWith('-')) return 'it would be read as an option'
  if (/\p{Cc}/u.test(name)) return 'it contains a control character'
  return HALF_CHARACTER.test(name) ? 'it contains an incomplete character' : undefined
}

export function parseReason(text: string): string {
  if (!text.includes('\0') && text.length <= 10_000) return text
  throw new SavestateError('BAD_INPUT', 'A reason can have at most 10,000 characters and no NUL')
}
