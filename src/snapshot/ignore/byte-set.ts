// Parses the `[...]` of a glob into a table of bytes. git differs from POSIX in ways that decide whether a file is saved, so
// each difference is kept: see the comments below.

/** One cell per byte: 1 if the byte is accepted. With `ignoreCase`, only lower-case bytes are looked up. */
export type ByteSet = Uint8Array

export type GlobOptions = {
  /** `/` is special: only `**` crosses it. */
  readonly pathname: boolean
  readonly ignoreCase: boolean
}

/** The bytes that `?` accepts. */
export function anyByte({ pathname }: GlobOptions): ByteSet {
  const set = new Uint8Array(256).fill(1)
  if (pathname) set[SLASH] = 0
  return set
}

/**
 * Reads the set whose `[` is just before `start`; `end` is just after its `]`.
 * `undefined` if git rejects the whole pattern: no closing `]`, or an unknown `[:class:]`.
 */
export function parseByteSet(
  pattern: string,
  start: number,
  options: GlobOptions,
): { readonly set: ByteSet; readonly end: number } | undefined {
  const isNegated = pattern[start] === '!' || pattern[start] === '^'
  const first = isNegated ? start + 1 : start
  const set: ByteSet = new Uint8Array(256)
  // The start of a possible range; a range or a class cannot start another range.
  let previous: number | undefined
  let at = first
  // A `]` in first position is a member, not the end.
  while (at === first || pattern[at] !== ']') {
    const name = className(pattern, at)
    if (name !== undefined) {
      const members = CLASSES.get(name)
      if (members === undefined) return undefined
      addClass(set, members)
      if (name === 'upper' && options.ignoreCase) addClass(set, LOWER)
      previous = undefined
      at += name.length + 4
      continue
    }
    const isRange =
      pattern[at] === '-' &&
      previous !== undefined &&
      at + 1 < pattern.length &&
      pattern[at + 1] !== ']'
    const member = isRange ? at + 1 : at
    const place = pattern[member] === '\\' ? member + 1 : member
    if (place >= pattern.length) return undefined
    const byte = pattern.charCodeAt(place)
    if (isRange && previous !== undefined) {
      addRange(set, { from: previous, to: byte, ignoreCase: options.ignoreCase })
      previous = undefined
    } else {
      // Not folded: under ignoreCase git's `[A]` matches neither `A` nor `a`, though `[A-A]` does.
      set[byte] = 1
      previous = byte
    }
    at = place + 1
  }
  if (isNegated) for (let byte = 0; byte < 256; byte++) set[byte] = set[byte] === 1 ? 0 : 1
  if (options.pathname) set[SLASH] = 0
  return { set, end: at + 1 }
}

export const SLASH = 0x2f
const LOWER = /[a-z]/

// Query for ASCII only, whatever the locale; `space` is git's own, without \v and \f.
const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /[0-9A-Za-z]/],
  ['alpha', /[A-Za-z]/],
  ['blank', /[ \t]/],
  ['cntrl', /[^ -~]/],
  ['digit', /[0-9]/],
  ['graph', /[!-~]/],
  ['lower', LOWER],
  ['print', /[ -~]/],
  ['punct', /[!-/:-@[-`{-~]/],
  ['space', /[ \t\n\r]/],
  ['upper', /[A-Z]/],
  ['xdigit', /[0-9A-Fa-f]/],
])

/** The name in `[:name:]` at `at`. Without the closing `:]` the `[` is an ordinary member. */
function className(pattern: string, at: number): string | undefined {
  if (!pattern.startsWith('[:', at)) return undefined
  const close = pattern.indexOf(']', at + 2)
  if (close <= at + 2 || pattern[close - 1] !== ':') return undefined
  return pattern.slice(at + 2, close - 1)
}

function addClass(set: ByteSet, members: RegExp): void {
  for (let byte = 0; byte < 128; byte++) if (members.test(String.fromCharCode(byte))) set[byte] = 1
}

function addRange(
  set: ByteSet,
  { from, to, ignoreCase }: { from: number; to: number; ignoreCase: boolean },
): void {
  for (let byte = from; byte <= to; byte++) {
    set[byte] = 1
    if (ignoreCase && byte >= 0x41 && byte <= 0x5a) set[byte + 0x20] = 1
  }
}
