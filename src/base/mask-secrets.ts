// Replaces secrets in text that is shown to people: keys with a known shape, passwords in URLs, commands and sentences, and values
// that are assigned to names such as `password`. It reduces what a screen or an exported file reveals; it cannot recognize every secret.
// Time is linear in the text: each pattern either fails within a bounded distance or consumes what it has read. Its repetitions are
// bounded too, because a match of many megabytes would overflow the stack of the regular expression.
import type { Fields } from './json.js'
import { KEY_REST, KEY_SHAPES } from './key-shapes.js'
import { PHRASE_REST, PHRASES } from './secret-phrases.js'

const MASK = '••••••'

/** `masked`: the number of replaced secrets. Everything else, also the name of a secret, stays as it is. */
export function maskSecrets(text: string): { readonly text: string; readonly masked: number } {
  let masked = 0
  const mask = (): string => {
    masked += 1
    return MASK
  }
  let result = maskPrivateKeys(text, mask)
  // A class name such as `sk-fading-circle-animation` has no digit.
  const isKey = (key: string) => !key.startsWith('sk-') || /\d/.test(key)
  result = maskMatches(result, { pattern: KEY_SHAPES, rest: KEY_REST, isMasked: isKey, mask })
  result = result.replace(URL_PASSWORD, (whole: string, before: string, password: string) =>
    isPlaceholder(password) ? whole : before + mask(),
  )
  result = result.replace(LOGIN, (whole: string, before: string, user: string, password: string) =>
    isLoginPassword(user, password) ? before + mask() : whole,
  )
  const isValue = (value: string) => !isPlaceholder(value)
  for (const [pattern, rest] of HEADERS)
    result = maskMatches(result, { pattern, rest, isMasked: isValue, mask })
  for (const { pattern, isSecret: isMasked } of PHRASES)
    result = maskMatches(result, { pattern, rest: PHRASE_REST, isMasked, mask })
  result = maskValues(result, { pattern: FLAG, isFlag: true, mask })
  result = maskValues(result, { pattern: ASSIGNMENT, isFlag: false, mask })
  return { text: result, masked }
}

/**
 * The same for named values, such as the arguments of a tool: a value whose name says that it is a secret is masked as a whole. Values
 * with other names stay, and so do values within values; `maskSecrets` masks them after they became text.
 */
export function maskNamedValues(values: Fields): {
  readonly values: Fields
  readonly masked: number
} {
  let masked = 0
  const entries = Object.entries(values).map(([name, value]): [string, unknown] => {
    if (typeof value !== 'string' || !isNamedSecret(name, value)) return [name, value]
    masked += 1
    return [name, MASK]
  })
  return { values: Object.fromEntries(entries), masked }
}

const URL_PASSWORD = /(:\/\/[^\s/:@"'`<>]{0,256}:)([^\s/"'`<>]{1,1024})(?=@)/g

const AUTHORIZATION =
  /((?<![a-z])(?:authorization["'\\]{0,3}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,3}(?:(?:bearer|basic|token)[ \t]{1,4})?|bearer[ \t]{1,4}(?=[^\s"'\\,;]{0,64}\d)))([^\s"'`\\,;]{8,4096})/gi
const AUTHORIZATION_REST = /[^\s"'`\\,;]{1,4096}/y

/** All cookies of a header. */
const COOKIES =
  /((?<![a-z])(?:set-)?cookie["'\\]{0,3}[ \t]{0,4}:[ \t]{0,4}["'\\]{0,3})(?=[\w.-]{1,64}=)([^\r\n"'`\\]{8,4096})/gi
const COOKIES_REST = /[^\r\n"'`\\]{1,4096}/y

const HEADERS = [
  [AUTHORIZATION, AUTHORIZATION_REST],
  [COOKIES, COOKIES_REST],
] as const

/** `curl -u name:password`. */
const LOGIN =
  /((?<![\w-])(?:-u|--user|--proxy-user)(?:=|[ \t]{1,4})["']?([\w.@+-]{1,64}):)([^\s"'`]{4,1024})/g

/** Other programs take a user and a group there, by name or number. */
function isLoginPassword(user: string, value: string): boolean {
  const isName = /^[a-z_-]{1,12}$/.test(value) || /^\d+$/.test(value) || value === user
  return !isName && !isPlaceholder(value)
}

type Matches = {
  /** The secret is its second group, or all of it. */
  readonly pattern: RegExp
  /** Matches the rest of a secret that is longer than the pattern allows. */
  readonly rest: RegExp
  /** `before`: its first group. */
  readonly isMasked: (secret: string, before: string) => boolean
  readonly mask: () => string
}

const MAX_RUN_CHARS = 4096

function maskMatches(text: string, { pattern, rest, isMasked, mask }: Matches): string {
  const pieces: string[] = []
  let done = 0
  pattern.lastIndex = 0
  for (;;) {
    const found = pattern.exec(text)
    if (found === null) break
    const secret = found[2] ?? found[0]
    if (!isMasked(secret, found[1] ?? '')) continue
    const end = pattern.lastIndex
    pieces.push(text.slice(done, end - secret.length), mask())
    done = secret.length < MAX_RUN_CHARS ? end : endOfRuns(text, rest, end)
    pattern.lastIndex = done
  }
  return done === 0 ? text : pieces.join('') + text.slice(done)
}

/** The index after all matches of a sticky pattern that follow each other. */
function endOfRuns(text: string, run: RegExp, from: number): number {
  let end = from
  run.lastIndex = from
  while (run.exec(text) !== null) end = run.lastIndex
  return end
}

const BEGIN_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const END_KEY = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** A line of base64, also after an escaped line break. Only the last line is short, and often padded. */
const KEY_LINE = /(?:\s|\\[nr]){0,64}(?:[A-Za-z0-9+/]{16,4096}={0,2}|[A-Za-z0-9+/]{0,15}={1,2})/y
const MAX_KEY_CHARS = 64 * 1024

function maskPrivateKeys(text: string, mask: () => string): string {
  const pieces: string[] = []
  let done = 0
  // The first end after `done`. Without it, each start would search the rest of the text again.
  let end: RegExpExecArray | null | undefined
  BEGIN_KEY.lastIndex = 0
  for (;;) {
    const begin = BEGIN_KEY.exec(text)
    if (begin === null) break
    const from = BEGIN_KEY.lastIndex
    if (end !== null && (end === undefined || end.index < from)) {
      END_KEY.lastIndex = from
      end = END_KEY.exec(text)
    }
    const to =
      end !== null && end.index - from <= MAX_KEY_CHARS
        ? end.index
        : endOfRuns(text, KEY_LINE, from)
    // Only the words, without a key.
    if (to - from < 16) continue
    pieces.push(text.slice(done, from), mask())
    done = to
    BEGIN_KEY.lastIndex = to
  }
  return done === 0 ? text : pieces.join('') + text.slice(done)
}

const NAMES = String.raw`passphrase|password|passwd|(?<![a-z])(?:pass|pwd)|secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)?|token|(?:api|access|private|encryption|signing|auth|account)[_-]?key|(?<=[a-z0-9]_)key`
const QUOTE = '\\\\{0,3}["\'`]'

/** The end of a name. */
const NAME_END = new RegExp(String.raw`(${NAMES})(?:[_-]?\d{1,3})?$`, 'i')

/** `--password value` and `--password=value`. */
const FLAG = new RegExp(
  String.raw`(?<![\w-])--[a-z-]{0,40}?(${NAMES})(?:=|[ \t]{1,4})(${QUOTE})?`,
  'gi',
)
/** Env files, JSON, YAML and code: `NAME=value`, `"name": "value"`, `name: value`, `name = 'value'`, `'name' => 'value'`. */
const ASSIGNMENT = new RegExp(
  String.raw`(${NAMES})(?:[_-]?\d{1,3})?(?:${QUOTE})?[ \t]{0,4}(?::=|=>|:(?!:)|=(?![=~]))[ \t]{0,4}(${QUOTE})?`,
  'gi',
)

type Values = {
  readonly pattern: RegExp
  readonly isFlag: boolean
  readonly mask: () => string
}

/** Enough to decide. The whole value is masked, however long it is. */
const DECISIVE_CHARS = 256
const MIN_CHARS = 8
const MIN_PASSWORD_CHARS = 4
/** No space before the value: `NAME=value` and `NAME="value"`. */
const ENV_END = new RegExp(`\\w=(?:${QUOTE})?$`)

function maskValues(text: string, { pattern, isFlag, mask }: Values): string {
  const pieces: string[] = []
  let done = 0
  pattern.lastIndex = 0
  for (;;) {
    const found = pattern.exec(text)
    if (found === null) break
    const from = pattern.lastIndex
    const name = found[1] ?? ''
    const quote = found[2]
    const isEnv = name === name.toUpperCase() && ENV_END.test(found[0])
    const isLiteral = isFlag || isEnv
    const hasSpaces = isLiteral || /^passphrase$/i.test(name)
    const run = runOf({ quote, isStrict: !isLiteral, hasSpaces })
    run.lastIndex = from
    const value = run.exec(text)?.[0] ?? ''
    const next = text[from + value.length] ?? ''
    const before = text.slice(Math.max(0, found.index - 8), found.index)
    const input = { name, before, value: value.slice(0, DECISIVE_CHARS), next, quote }
    if (!isSecret(input, isLiteral)) continue
    pieces.push(text.slice(done, from), mask())
    // Also the rest of a value that is longer than what was decided on.
    done = endOfRuns(text, run, from)
    pattern.lastIndex = done
  }
  return done === 0 ? text : pieces.join('') + text.slice(done)
}

type ValueForm = {
  /** The opening quote. It has backslashes if the whole text is inside another string. */
  readonly quote: string | undefined
  /** Brackets and separators of code end the value. */
  readonly isStrict: boolean
  readonly hasSpaces: boolean
}

const runs = new Map<string, RegExp>()

/** Matches a piece of a value. */
function runOf(form: ValueForm): RegExp {
  const source = runSource(form)
  const known = runs.get(source)
  if (known !== undefined) return known
  const run = new RegExp(`(?:${source}){1,${DECISIVE_CHARS}}`, 'y')
  runs.set(source, run)
  return run
}

function runSource({ quote, isStrict, hasSpaces }: ValueForm): string {
  if (quote === undefined)
    return isStrict ? String.raw`[^\s"'\\\x60;&|,<>(){}[\]]` : String.raw`[^\s"'\\\x60;&|]`
  const spaces = hasSpaces ? String.raw`\r\n` : String.raw`\s`
  const plain = String.raw`[^${spaces}\\${quote.slice(-1)}]`
  return quote.length === 1 ? String.raw`${plain}|\\\S` : plain
}

type Candidate = {
  readonly name: string
  /** The text before the name. */
  readonly before: string
  readonly value: string
  /** The character after the value. */
  readonly next: string
  readonly quote: string | undefined
}

function isSecret({ name, before, value, next, quote }: Candidate, isLiteral: boolean): boolean {
  const isPassword = /^(?:password|passwd|pwd)$/i.test(name) && (isLiteral || quote !== undefined)
  const minChars = isPassword ? MIN_PASSWORD_CHARS : MIN_CHARS
  if (value.length < minChars || isPlaceholder(value)) return false
  const hasDigit = /\d/.test(value)
  // Variables such as PRIMARY_KEY are usual; a key itself is long.
  if (/^key$/i.test(name)) return isLiteral && name === 'KEY' && hasDigit && value.length >= 16
  // A working directory.
  if (/^pwd$/i.test(name) && /^[/~.]/.test(value)) return false
  const isWord = /^[a-z][a-z._-]*$/.test(value)
  if (quote !== undefined) {
    // A sentence, such as the label of a field.
    if (/[ \t]/.test(next)) return false
    // The kind of a lexer's token.
    const isLexerToken = /^token$/i.test(name) && !/(?:auth|access|refresh|api)[_-]?$/i.test(before)
    return !(isLexerToken && isWord && value.length < 24)
  }
  if (isLiteral) return !/^[A-Z_]+$/.test(value)
  if (/^\d+$/.test(value)) return /^(?:pass|pwd)/i.test(name)
  // A line of a configuration file. In code, a type or a variable follows.
  const isLine = /^[\r\n]?$/.test(next) && /^pass(?:word|wd|phrase)$/i.test(name)
  if (isLine && /^[a-z]+$/.test(value)) return !ORDINARY_WORD.test(value)
  const isCode = next === '(' || /^[A-Za-z_$]+\??\./.test(value) || /^\w*Array$/.test(value)
  return hasDigit && !isCode
}

const ORDINARY_WORD =
  /^(?:password|passphrase|undefined|required|optional|protected|incorrect|encrypted|plaintext|generated|credentials)$/

function isNamedSecret(fullName: string, value: string): boolean {
  const found = NAME_END.exec(fullName)
  if (found === null) return false
  const [before, name] = [fullName.slice(0, found.index), found[1] ?? '']
  const start = value.slice(0, DECISIVE_CHARS)
  return isSecret({ name, before, value: start, next: '', quote: '"' }, true)
}

/** A variable, a template or a remark in place of a secret. */
function isPlaceholder(value: string): boolean {
  return (
    /^(?:[$<%{[•.…]|\*\*|#\{|(?:true|false|null|none|undefined)$|your[-_]|example|redacted|process\.env|import\.meta|os\.environ|env\.|secrets\.)/i.test(
      value,
    ) || /^(.)\1*$/s.test(value)
  )
}
