// Replaces secrets in text that is shown to people: keys with a known shape, passwords in URLs, and values that are assigned
// to names such as `password`. It reduces what a screen or an exported file reveals; it cannot recognize every secret.
// Time is linear in the text: each pattern either fails within a bounded distance or consumes what it has read.

const MASK = '••••••'

/** `masked`: the number of replaced secrets. Everything else, also the name of a secret, stays as it is. */
export function maskSecrets(text: string): { readonly text: string; readonly masked: number } {
  let masked = 0
  const mask = (): string => {
    masked += 1
    return MASK
  }
  let result = maskPrivateKeys(text, mask)
  result = result.replace(KEY_SHAPES, (key: string) =>
    // A class name such as `sk-fading-circle-animation` has no digit.
    key.startsWith('sk-') && !/\d/.test(key) ? key : mask(),
  )
  result = result.replace(URL_PASSWORD, (whole: string, before: string, password: string) =>
    isPlaceholder(password) ? whole : before + mask(),
  )
  result = result.replace(AUTHORIZATION, (whole: string, before: string, value: string) =>
    isPlaceholder(value) ? whole : before + mask(),
  )
  result = maskValues(result, { pattern: FLAG, isFlag: true, mask })
  result = maskValues(result, { pattern: ASSIGNMENT, isFlag: false, mask })
  return { text: result, masked }
}

/** Not inside a longer word. The `n` of an escaped line break does not belong to the word. */
const START = String.raw`(?:(?<![\w-])|(?<=\\[nrt]))`

const KEY_SHAPES = new RegExp(
  [
    // AWS, GitHub, GitLab, Slack, Google
    String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])`,
    String.raw`gh[pousr]_[A-Za-z0-9]{20,}`,
    String.raw`github_pat_\w{20,}`,
    String.raw`glpat-[\w-]{16,}`,
    String.raw`xox[a-z]-[\w-]{10,}`,
    String.raw`AIza[\w-]{30,}`,
    // OpenAI, Anthropic, npm, Stripe
    String.raw`${START}sk-[\w-]{20,}`,
    String.raw`${START}npm_[A-Za-z0-9]{30,}`,
    String.raw`${START}(?:[rs]k_(?:live|test)|whsec)_\w{10,}`,
    // age, JSON Web Tokens
    String.raw`AGE-SECRET-KEY-1[A-Z0-9]{20,}`,
    String.raw`${START}eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]{8,}`,
  ].join('|'),
  'g',
)

const URL_PASSWORD = /(:\/\/[^\s/:@"'`<>]{0,256}:)([^\s/"'`<>]{1,1024})(?=@)/g

const AUTHORIZATION =
  /((?<![a-z])(?:authorization["'\\]{0,3}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,3}(?:(?:bearer|basic|token)[ \t]{1,4})?|bearer[ \t]{1,4}(?=[^\s"'\\,;]{0,64}\d)))([^\s"'`\\,;]{8,})/gi

const BEGIN_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const END_KEY = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** A key whose end is missing: lines of base64, also with escaped line breaks. */
const KEY_LINES = /(?:(?:\s|\\[nr]){1,64}[A-Za-z0-9+/=]{16,})*/y
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
    let to: number
    if (end !== null && end.index - from <= MAX_KEY_CHARS) to = end.index
    else {
      KEY_LINES.lastIndex = from
      KEY_LINES.exec(text)
      to = KEY_LINES.lastIndex
    }
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
    const isEnv = name === name.toUpperCase() && /\w=$/.test(found[0])
    const run = runOf({ quote, isStrict: !isFlag && !isEnv, hasSpaces: /^passphrase$/i.test(name) })
    run.lastIndex = from
    const value = run.exec(text)?.[0] ?? ''
    const next = text[from + value.length] ?? ''
    const input = { name, value: value.slice(0, DECISIVE_CHARS), next, quote }
    if (!isSecret(input, isFlag || isEnv)) continue
    pieces.push(text.slice(done, from), mask())
    // The rest of a value that is longer than what was decided on.
    let to = run.lastIndex
    while (run.exec(text) !== null) to = run.lastIndex
    done = to
    pattern.lastIndex = to
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
  readonly value: string
  /** The character after the value. */
  readonly next: string
  readonly quote: string | undefined
}

function isSecret({ name, value, next, quote }: Candidate, isLiteral: boolean): boolean {
  if (value.length < MIN_CHARS || isPlaceholder(value)) return false
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
    return !(/^token$/i.test(name) && isWord && value.length < 24)
  }
  if (isLiteral) return !/^[A-Z_]+$/.test(value)
  if (/^\d+$/.test(value)) return /^(?:pass|pwd)/i.test(name)
  const isCode = next === '(' || /^[A-Za-z_$]+\??\./.test(value) || /^\w*Array$/.test(value)
  return hasDigit && !isCode
}

/** A variable, a template or a remark in place of a secret. */
function isPlaceholder(value: string): boolean {
  return (
    /^(?:[$<%{[•*.…#]|your[-_]|example|redacted|process\.env|import\.meta|os\.environ|env\.|secrets\.)/i.test(
      value,
    ) || /^(.)\1*$/s.test(value)
  )
}
