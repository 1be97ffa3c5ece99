// Glob matching with the results of git's wildmatch, but without its exponential cases. A glob is parsed once, so that
// matching is a walk over small numbers, and `rule-index.ts` can put plain names and plain suffixes into maps.

import { anyByte, type ByteSet, type GlobOptions, parseByteSet, SLASH } from './byte-set.js'

/** Steps below 256 are that byte; then come the ones named here; from SET on, `sets[step - SET]`. */
export type Glob = { readonly steps: Uint16Array; readonly sets: readonly ByteSet[] }

/** The last step of every glob. */
const END = 256
/** Any bytes but `/`. */
export const STAR = 257
/** Any bytes. */
export const DEEP = 258
/** Nothing, or any bytes up to and including a `/`: the `**` and the slash after it. */
export const FOLDERS = 259
const SET = 260

/** `undefined` if git considers the pattern malformed; such a pattern matches nothing. */
export function parseGlob(pattern: string, options: GlobOptions): Glob | undefined {
  const steps: number[] = []
  const sets: ByteSet[] = []
  const addSet = (set: ByteSet): void => {
    steps.push(SET + sets.length)
    sets.push(set)
  }
  let at = 0
  while (at < pattern.length) {
    const char = pattern[at]
    if (char === '*') {
      const stars = readStars(pattern, at, options)
      steps.push(stars.step)
      at = stars.end
    } else if (char === '[') {
      const parsed = parseByteSet(pattern, at + 1, options)
      if (parsed === undefined) return undefined
      addSet(parsed.set)
      at = parsed.end
    } else if (char === '\\') {
      if (at + 1 === pattern.length) return undefined
      // Not folded: under ignoreCase git's `\A` matches neither `A` nor `a`.
      steps.push(pattern.charCodeAt(at + 1))
      at += 2
    } else {
      if (char === '?') addSet(anyByte(options))
      else
        steps.push(options.ignoreCase ? lowerByte(pattern.charCodeAt(at)) : pattern.charCodeAt(at))
      at++
    }
  }
  steps.push(END)
  return { steps: Uint16Array.from(steps), sets }
}

/**
 * Whether the glob matches the whole text. The text must be case-folded if the glob is.
 *
 * A failed step backtracks only to the last star. That is enough: a longer match of an earlier star only leaves less text
 * for the later ones. A `*` cannot cross a `/`, so there is a second backtrack point, the last `**`. Time is bounded by
 * text × pattern × folders in the text.
 */
export function matchGlob({ steps, sets }: Glob, text: string): boolean {
  const end = text.length
  // Fast path: most globs end with a plain byte, and most texts with a different one.
  const final = steps[steps.length - 2] ?? END
  if (final < END && text.charCodeAt(end - 1) !== final) return false

  let step = 0
  let at = 0
  let starStep = -1
  let starAt = 0
  let deepStep = -1
  let deepAt = 0
  for (;;) {
    const want = steps[step] ?? END
    if (want === STAR) {
      starStep = step++
      starAt = at
      continue
    }
    if (want === DEEP || want === FOLDERS) {
      deepStep = step++
      deepAt = at
      starStep = -1
      continue
    }
    if (at === end) {
      // Backtracking would not gain more text for the remaining steps.
      return want === END
    }
    const byte = text.charCodeAt(at)
    if (want < END ? want === byte : want >= SET && sets[want - SET]?.[byte] === 1) {
      step++
      at++
      continue
    }
    if (starStep !== -1 && text.charCodeAt(starAt) !== SLASH) {
      step = starStep + 1
      at = ++starAt
      continue
    }
    if (deepStep === -1) return false
    deepAt = steps[deepStep] === FOLDERS ? text.indexOf('/', deepAt) + 1 : deepAt + 1
    if (deepAt === 0) return false
    starStep = -1
    step = deepStep + 1
    at = deepAt
  }
}

/** The text of a glob from step `from` on, if it consists of plain bytes only. */
export function literalFrom({ steps }: Glob, from: number): string | undefined {
  const bytes = steps.subarray(from, -1)
  return bytes.every((step) => step < END) ? Buffer.from(bytes).toString('latin1') : undefined
}

/** Like git, folds only A to Z: a byte above 0x7f is no letter. */
export function foldCase(text: string): string {
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase()) : text
}

function readStars(
  pattern: string,
  at: number,
  { pathname }: GlobOptions,
): { readonly step: number; readonly end: number } {
  let end = at + 1
  while (pattern[end] === '*') end++
  if (!pathname) return { step: DEEP, end }
  // Two or more stars cross folders only if they are a whole path component; otherwise they act as one star.
  if (end - at === 1 || (at > 0 && pattern[at - 1] !== '/')) return { step: STAR, end }
  if (pattern[end] === '/') return { step: FOLDERS, end: end + 1 }
  // An escaped slash ends the component too, but git then requires that slash in the text.
  if (end === pattern.length || pattern.startsWith('\\/', end)) return { step: DEEP, end }
  return { step: STAR, end }
}

function lowerByte(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
}
