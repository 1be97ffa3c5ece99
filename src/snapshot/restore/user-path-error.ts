// System errors name the path of the call. Ours go through descriptors and temporary names, which mean nothing to users.
import { type BytePath, isError, printablePath } from '../../model/index.js'

const OUR_PATHS = /'\/proc\/self\/fd\/[^']*'(?: -> '\/proc\/self\/fd\/[^']*')?/g

/** The same error with the path in the project that the step was about. */
export function withUserPath(error: unknown, path: BytePath): unknown {
  if (!isError(error)) return error
  const shown = `'${printablePath(path) || '.'}'`
  error.message = error.message.replace(OUR_PATHS, () => shown)
  // A call on a descriptor has no path.
  if ('syscall' in error && !error.message.endsWith("'")) error.message += ` ${shown}`
  return error
}
