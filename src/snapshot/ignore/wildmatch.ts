// Glob matching with the results of git's wildmatch, but without its exponential cases.
//
// A failed step backtracks only to the last star. That is enough: a longer match of an earlier star only leaves less text
// for the later ones. A `*` cannot cross a `/`, so there is a second backtrack point, the last `**`. Time is bounded by
// text × pattern × folders in the text.

import type { GlobOptions } from './byte-set.js'
import { DEEP, END, FOLDERS, foldCase, type Glob, parseGlob, SET, STAR } from './glob.js'

/** Pattern and text have one character per byte. A malformed pattern matches nothing. */
export function compileGlob(pattern: string, options: GlobOptions): (text: string) => boolean {
  const glob = parseGlob(pattern, options)
  if (glob === undefined) return () => false
  if (options.ignoreCase) return (text) => matchGlob(glob, foldCase(text))
  return (text) => matchGlob(glob, text)
}

/** Whether the glob matches the whole text. The text must be case-folded if the glob is. */
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

const SLASH = 0x2f
