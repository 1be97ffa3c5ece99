// Finds the lines of a `.savestateignore` that ask for secrets. Such a line counts only in a file that the user trusts; the
// others bring back ordinary files and count always.
import { type BytePath, DOUBTFUL_NAME, ROOT, SECRET_NAMES } from '../../model/index.js'
import { parseIgnoreFile } from './ignore-file.js'
import { compileIgnoreList, extend, verdict } from './ignore-rules.js'

/** Names that match everything, or everything hidden: they include the names of secrets. */
const ANY_NAME = /^[.*?]+$/
/** Private keys are recognized by their content; this is how their files are usually named. */
const KEY_NAME = /\.key$/i

/** The patterns of these lines, as they are in the file. The text holds one character per byte. */
export function secretLines(text: string): string[] {
  const names = extend(undefined, compileIgnoreList(SECRET_NAMES.join('\n'), ROOT, OPTIONS))
  return parseIgnoreFile(text)
    .filter(({ isNegated, isFolderOnly }) => isNegated && !isFolderOnly)
    .filter(({ glob }) => {
      const name = glob.slice(glob.lastIndexOf('/') + 1)
      const isSecret = verdict(names, name as BytePath, false) === 'ignored'
      return isSecret || [ANY_NAME, KEY_NAME, DOUBTFUL_NAME].some((form) => form.test(name))
    })
    .map(({ glob }) => `!${glob}`)
}

const OPTIONS = { ignoreCase: true }
