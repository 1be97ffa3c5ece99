// While a command runs, signals are for it: those that reach only us are passed on, and we outlive it to save the result.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { hasCode } from '../../base/index.js'

const PASSED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const
const POLL_MS = 200

/** Call it before the command starts, so that no signal is missed. The returned function ends it. */
export function passSignals(command: () => ChildProcess | undefined): () => void {
  const probe = startSignalProbe()
  const pass = async (signal: NodeJS.Signals) => {
    if (!(await probe.received(signal))) command()?.kill(signal)
  }
  const listener = (signal: NodeJS.Signals) => void pass(signal)
  for (const signal of PASSED) process.on(signal, listener)
  const timer = isOnTerminal() ? setInterval(() => stopWith(command()), POLL_MS) : undefined
  return () => {
    clearInterval(timer)
    for (const signal of PASSED) process.off(signal, listener)
    probe.end()
  }
}

/** If the command stops only itself, the shell notices only if we stop too. */
function stopWith(child: ChildProcess | undefined): void {
  if (child?.pid === undefined || !isStopped(child.pid)) return
  process.kill(process.pid, 'SIGSTOP')
  // We were continued, so continue the command.
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

/** Without a terminal no shell would continue us, so we must not stop. */
function isOnTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor))
}

/**
 * Finds out whether a signal went to our whole process group, like Ctrl-C and `kill %1`, or only to us. In the first case
 * the command has received it too, and must not get it twice. Node cannot tell the two apart, so a `cat` process runs in
 * the same group: either the signal has killed it, or it still echoes.
 */
function startSignalProbe() {
  let echo = startEcho()
  let isEnded = false
  return {
    /** Whether the whole group received this signal. */
    received: (signal: NodeJS.Signals) =>
      new Promise<boolean>((resolve) => {
        const asked = echo
        const died = (_: unknown, by: NodeJS.Signals | null) => {
          if (echo === asked && !isEnded) echo = startEcho()
          resolve(by === signal)
        }
        if (asked.exitCode !== null || asked.signalCode !== null) {
          died(asked.exitCode, asked.signalCode)
          return
        }
        asked.once('exit', died)
        // Without `cat`, assume that the signal was only for us.
        asked.once('error', () => resolve(false))
        asked.stdout.once('data', () => {
          asked.off('exit', died)
          resolve(false)
        })
        asked.stdin.write('\n')
      }),
    // `cat` ends at the end of its input, also if we are killed.
    end() {
      isEnded = true
      echo.stdin.end()
    },
  }
}

function startEcho() {
  const echo = spawn('cat', { cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] })
  // It may have ended already: then its exit event counts, not the pipe.
  echo.stdin.on('error', () => undefined)
  echo.on('error', () => undefined)
  echo.unref()
  return echo
}
