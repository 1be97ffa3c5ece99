// Finds the lines of a `.savestateignore` that include secrets. Such a line applies only in a file that the user trusts;
// lines that include ordinary files always apply.
import { type BytePath, DOUBTFUL_NAME, ROOT, SECRET_NAMES } from '../../model/index.js'
import { parseIgnoreFile } from './ignore-file.js'
import { compileIgnoreList, extend, findVerdict } from './ignore-rules.js'

/** Patterns that match all names, or all hidden names, so also the names of secrets. */
const ANY_NAME = /^[.*?]+$/
/** Private keys are recognized by content; this is their usual file name. */
const KEY_NAME = /\.key$/i

/** The patterns of these lines, unchanged. The text has one character per byte. */
export function secretLines(text: string): string[] {
  const names = extend(undefined, compileIgnoreList(SECRET_NAMES.join('\n'), ROOT, OPTIONS))
  return parseIgnoreFile(text)
    .filter(({ isNegated, isFolderOnly }) => isNegated && !isFolderOnly)
    .filter(({ glob }) => {
      const name = glob.slice(glob.lastIndexOf('/') + 1)
      const isSecret = findVerdict(names, name as BytePath, false) === 'ignored'
      return isSecret || [ANY_NAME, KEY_NAME, DOUBTFUL_NAME].some((form) => form.test(name))
    })
    .map(({ glob }) => `!${glob}`)
}

const OPTIONS = { ignoreCase: true }
