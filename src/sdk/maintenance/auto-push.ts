// Starts a push in a process of its own, so that no hook waits for it: encoding a long session and a slow network take seconds.
import { fileURLToPath } from 'node:url'
import { isPushDue, type StoreContext } from '../../engine/index.js'
import { childProcess } from '../../system/index.js'

/** Undefined if none is due; otherwise resolves when the process has ended. `isSoon`: a turn has ended. */
export function startPushIfDue(
  context: StoreContext,
  { isSoon, signal }: { readonly isSoon: boolean; readonly signal: AbortSignal },
): Promise<void> | undefined {
  if (!isPushDue(context, { isSoon })) return undefined
  const program = fileURLToPath(new URL('./push-process.js', import.meta.url))
  const child = childProcess().spawn(process.execPath, [program, context.home], {
    // Not in the caller's folder, which could then not be unmounted.
    cwd: context.home,
    stdio: 'ignore',
    // A push can be killed at any time: the next one finds what was sent.
    signal,
    killSignal: 'SIGKILL',
  })
  child.unref()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    // An abort, or a process that could not be started: it records nothing, so the next check starts another one.
    child.on('error', () => resolve())
  })
}
