// Errors of the system speak of the path that a call was given, and ours lead through descriptors and temporary names,
// which say nothing to anybody.
import { type BytePath, isError, printablePath } from '../../model/index.js'

const OUR_PATHS = /'\/proc\/self\/fd\/[^']*'(?: -> '\/proc\/self\/fd\/[^']*')?/g

/** The same error, speaking of the path in the project that the step was about. */
export function inUserWords(error: unknown, path: BytePath): unknown {
  if (!isError(error)) return error
  const shown = `'${printablePath(path) || '.'}'`
  error.message = error.message.replace(OUR_PATHS, () => shown)
  // A call on a descriptor was given no path.
  if ('syscall' in error && !error.message.endsWith("'")) error.message += ` ${shown}`
  return error
}
