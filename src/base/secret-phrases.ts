// Secrets in commands, in `.netrc` files and in sentences, for `mask-secrets.ts`. Commands and files have fixed forms. In a sentence
// only a value that is no ordinary word counts as a secret. Repetitions are bounded: see `mask-secrets.ts`.

export type Phrase = {
  /** The first group is the text before the secret, the second one the secret. The match ends with it. */
  readonly pattern: RegExp
  readonly isSecret: (value: string, before: string) => boolean
}

/** Matches the rest of a longer secret. */
export const PHRASE_REST = /[^\s"'`]{1,4096}/y

/** The value of an option: up to its quote, or a word. */
const ARGUMENT = String.raw`["']?)((?<=")[^"\r\n]{2,4096}|(?<=')[^'\r\n]{2,4096}|[^\s"'\x60;|&]{2,4096})`

/** An option of a program, after other words of the same command. */
function option(programs: string, name: string): Phrase {
  const start = String.raw`(?<![\w-])(?:${programs})(?=[ \t])[^\r\n;|&]{0,160}?[ \t]`
  return {
    pattern: new RegExp(`(${start}${name}${ARGUMENT}`, 'g'),
    isSecret: (value) => !VARIABLE.test(value),
  }
}

const VARIABLE = /^[$<%{[•*-]/

const OPTIONS: readonly Phrase[] = [
  // With a space after -p, these ask for the password.
  option(String.raw`mysql\w{0,16}|mariadb[\w-]{0,16}`, '-p'),
  option('sshpass', String.raw`-p[ \t]{0,4}`),
  option(
    String.raw`mongo[a-z]{0,12}|(?:docker|podman|oc|az|helm[ \t]registry)[ \t]login`,
    String.raw`-p[ \t]{1,4}`,
  ),
  option('redis-cli', String.raw`-a[ \t]{1,4}`),
]

const WORD = String.raw`[^\s"'\x60\\]{1,256}`
/** A line break may be escaped. */
const BREAK = String.raw`(?:\s|\\[nrt]){1,16}`
const NETRC_START = String.raw`(?<![\w-])(?:machine${BREAK}${WORD}|default)`
const NETRC_LOGIN = String.raw`(?:${BREAK}(?:login|account)${BREAK}${WORD}){1,2}`
/** `machine example.com login me password secret`, also over several lines. */
const NETRC: Phrase = {
  pattern: new RegExp(
    String.raw`(${NETRC_START}${NETRC_LOGIN}${BREAK}password${BREAK})([^\s"'\x60\\]{1,4096})`,
    'g',
  ),
  // "the default login form, password field": a sentence.
  isSecret: (value, before) =>
    !VARIABLE.test(value) && (!before.startsWith('default') || /[^a-z]/.test(value)),
}

/** `https://TOKEN@host`. For passwords after a colon: see `mask-secrets.ts`. */
const URL_TOKEN: Phrase = {
  pattern: /(:\/\/)([\w.~-]{20,4096})(?=@)/g,
  isSecret: (value) => /\d/.test(value) && /[A-Za-z]/.test(value),
}

/** `for the admin`, `of db-1`. */
const OWNER = String.raw`(?:[ \t]{1,4}(?:for|of)(?:[ \t]{1,4}[\w.@'’/-]{1,64}){1,4}?)?`
const VERB = String.raw`(?:[ \t]{1,4}(?:is|was|to)(?:[ \t]{1,4}(?:now|still|set[ \t]to))?[ \t]{0,4}:?|[ \t]{0,4}:)[ \t\r\n]{1,4}`
const CHARACTER = String.raw`[^\s"'\x60“”<>(){}[\],;]`
/** Punctuation after it belongs to the sentence. A bracket after it makes it a call. */
const VALUE = String.raw`${CHARACTER}{3,4095}(?<![.:?])(?=[.:?]{0,3}(?:[\s"'\x60“”<>){}[\],;]|$))`
const OPEN_QUOTE = String.raw`(?:["'\x60“](?=${CHARACTER}{4,4095}["'\x60”]))?`

function sentence(names: string, isSecret: Phrase['isSecret']): Phrase {
  const start = String.raw`(?<![\w$.-])(?:${names})${OWNER}${VERB}${OPEN_QUOTE}`
  return { pattern: new RegExp(`(${start})(${VALUE})`, 'gi'), isSecret }
}

const SENTENCES: readonly Phrase[] = [
  sentence('password|passwd|passphrase|passcode', isPassword),
  sentence(
    String.raw`(?:access|api|auth|bearer|refresh|secret)[ _-](?:key|token)|token|secret`,
    (value) => value.length >= 12 && isUnusual(value) && !isName(value),
  ),
]

function isPassword(value: string, before: string): boolean {
  if (VARIABLE.test(value) || isName(value) || /^\w*Array$/.test(value)) return false
  if (/["'`“]$/.test(before)) return !QUOTED_WORD.test(value)
  const isEmail = /^[\w.+-]+@[\w-]+\.[\w.]+$/.test(value)
  return isUnusual(value) || /^\d{4,}$/.test(value) || (/[!@#$%^&*+=~]\w/.test(value) && !isEmail)
}

function isUnusual(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !ORDINARY.test(value)
}

/** Methods, versions, numbers with a unit, paths and addresses. */
const ORDINARY =
  /^(?:(?:sha|md|bcrypt|argon|pbkdf|scrypt|base|utf|aes|rsa|ed|oauth|step|line|http|v)-?\d.*|\d+[a-z]{1,5}|\d+-[a-z-]+|[~./].*|https?:.*)$/i

/** A property in code, or words that are joined, such as `user-2-session`. */
function isName(value: string): boolean {
  return (
    /^[a-z_$][\w$]*\??\.[a-z]/i.test(value) ||
    /^[a-z]+\d?(?:[-_](?:[a-z]+\d?|\d{1,2}))+$/i.test(value)
  )
}

const QUOTED_WORD =
  /^(?:pass(?:word|phrase|code)|string|undefined|null|none|true|false|required|optional|invalid|incorrect|wrong|expired|missing|empty|hidden|text|hash(?:ed)?|salted|bcrypt|argon2\w*|scrypt|encrypted|plaintext|redacted|example|your[-_].*)$/i

export const PHRASES: readonly Phrase[] = [...OPTIONS, NETRC, URL_TOKEN, ...SENTENCES]
