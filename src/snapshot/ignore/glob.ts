// Parses a glob once, so that matching is a walk over small numbers, and `rule-index.ts` can tell plain names and plain
// suffixes, which need no walk.

import { anyByte, type ByteSet, type GlobOptions, parseByteSet } from './byte-set.js'

/** Steps below 256 are that byte; then come the ones named here; from SET on, `sets[step - SET]`. */
export type Glob = { readonly steps: Uint16Array; readonly sets: readonly ByteSet[] }

/** The last step of every glob. */
export const END = 256
/** Any bytes but `/`. */
export const STAR = 257
/** Any bytes. */
export const DEEP = 258
/** Nothing, or any bytes up to and including a `/`: the `**` and the slash after it. */
export const FOLDERS = 259
export const SET = 260

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
