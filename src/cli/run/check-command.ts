// Runs the command of a bisect in a folder, with a time limit. Its output goes to our stderr.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { hasCode } from '../../base/index.js'
import { SavestateError } from '../../index.js'
import { withGivenUmask } from '../start/umask.js'

export type CommandEnd = {
  /** As a shell reports it: 128 and more for a signal. */
  readonly exitCode: number
  readonly isTimedOut: boolean
}

const BY_SIGNAL = 128
/** For a command that does not end on SIGTERM. */
const GRACE_MS = 2000

/** Rejects with the reason of the signal if that ends it. Throws BAD_INPUT for a command that cannot be started. */
export async function checkCommand(
  words: readonly string[],
  how: {
    readonly folder: string
    readonly timeoutMs: number
    readonly signal: AbortSignal | undefined
  },
): Promise<CommandEnd> {
  const { folder, timeoutMs, signal } = how
  const [file = '', ...args] = words
  // A group of its own: everything that it started can be ended with it.
  const child = withGivenUmask(() =>
    spawn(file, args, {
      cwd: folder,
      env: withoutOurs(process.env),
      stdio: ['ignore', process.stderr, process.stderr],
      detached: true,
    }),
  )
  let isTimedOut = false
  const stop = () => void endGroup(child)
  const timer = setTimeout(() => {
    isTimedOut = true
    stop()
  }, timeoutMs)
  signal?.addEventListener('abort', stop)
  try {
    const [code, by] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    signal?.throwIfAborted()
    return { exitCode: code ?? BY_SIGNAL + constants.signals[by ?? 'SIGKILL'], isTimedOut }
  } catch (error) {
    if (signal?.aborted === true || !hasCode(error, 'ENOENT', 'EACCES')) throw error
    throw new SavestateError('BAD_INPUT', `The command ${JSON.stringify(file)} cannot be started`, {
      hint: "The command is started in a copy of the folder, without a shell. For shell syntax: sh -c 'COMMAND'",
      cause: error,
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    killGroup(child, 'SIGKILL')
  }
}

/** Keys of the store are none of its business, and with our folder it could save its work as that of the user. */
function withoutOurs(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith('SAVESTATE_')),
  )
}

async function endGroup(child: ChildProcess): Promise<void> {
  killGroup(child, 'SIGTERM')
  const timer = setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS)
  // `checkCommand` waits for the same process, and reports its errors.
  await once(child, 'exit').catch(() => undefined)
  clearTimeout(timer)
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // Everything in it has ended.
    if (!hasCode(error, 'ESRCH', 'EPERM')) throw error
  }
}
