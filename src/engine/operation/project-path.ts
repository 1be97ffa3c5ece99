// The paths that callers give: relative to the project, and inside it.
import { type BytePath, parsePathText, SavestateError } from '../../model/index.js'

/** Undefined means everything. */
export function parseProjectPaths(
  texts: readonly string[] | undefined,
): readonly BytePath[] | undefined {
  return texts === undefined || texts.length === 0 ? undefined : texts.map(parseProjectPath)
}

/** A path inside the project, as text (see pathText). Nothing may point outside (I4). */
export function parseProjectPath(text: string): BytePath {
  let path: BytePath
  try {
    path = parsePathText(text)
  } catch (cause) {
    throw new SavestateError(
      'BAD_INPUT',
      `${JSON.stringify(text)} is not a well-formed quoted path`,
      { cause },
    )
  }
  // An unset shell variable must not mean the whole project.
  if (path === '') {
    throw new SavestateError('BAD_INPUT', 'A path cannot be empty', {
      hint: 'Use "." for the whole project.',
    })
  }
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (path.startsWith('/') || names.includes('..') || path.includes('\0')) {
    throw new SavestateError('BAD_INPUT', `${JSON.stringify(text)} is not in the project`, {
      hint: 'Give the path relative to the project folder.',
    })
  }
  return names.join('/') as BytePath
}
