// While a command runs its signals are its own: what reaches us alone is passed on, and we outlive it to save what it left.
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { hasCode } from '../../base/index.js'
import { callWitness } from './witness.js'

const PASSED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const
const LOOK_MS = 200

/** Before the command is started, so that no signal falls between; until the returned function is called. */
export function passSignals(command: () => ChildProcess | undefined): () => void {
  const witness = callWitness()
  const pass = async (signal: NodeJS.Signals) => {
    if (!(await witness.sawIt(signal))) command()?.kill(signal)
  }
  const listener = (signal: NodeJS.Signals) => void pass(signal)
  for (const signal of PASSED) process.on(signal, listener)
  const timer = isOnTerminal() ? setInterval(() => stopWith(command()), LOOK_MS) : undefined
  return () => {
    clearInterval(timer)
    for (const signal of PASSED) process.off(signal, listener)
    witness.dismiss()
  }
}

/** A program that stops itself alone is stopped for the shell only if we are, too. */
function stopWith(child: ChildProcess | undefined): void {
  if (child?.pid === undefined || !isStopped(child.pid)) return
  process.kill(process.pid, 'SIGSTOP')
  // From here on somebody wants us to go on, and means the command.
  child.kill('SIGCONT')
}

function isStopped(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')')).startsWith(') T')
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return false
    throw error
  }
}

/** Where nobody could continue us, we do not stop. */
function isOnTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor))
}
