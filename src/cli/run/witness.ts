// Tells whether a signal was for all of our process group, as Ctrl-C and `kill %1` are, or for us alone. In the first case the
// command has it too, and would take a second one for impatience. No system call of Node tells; so a process that does
// nothing but echo stands in the same group: the signal has killed it, or it still answers.
import { type ChildProcess, spawn } from 'node:child_process'

export type Witness = {
  /** Whether everybody in the group got this signal. */
  sawIt(signal: NodeJS.Signals): Promise<boolean>
  dismiss(): void
}

export function callWitness(): Witness {
  let echo = startEcho()
  let isDismissed = false
  return {
    sawIt(signal) {
      const asked = echo
      return new Promise((resolve) => {
        const died = (_: unknown, by: NodeJS.Signals | null) => {
          if (echo === asked && !isDismissed) echo = startEcho()
          resolve(by === signal)
        }
        if (asked.exitCode !== null || asked.signalCode !== null) {
          died(asked.exitCode, asked.signalCode)
          return
        }
        asked.once('exit', died)
        // Where there is no such program nobody has seen anything.
        asked.once('error', () => resolve(false))
        asked.stdout?.once('data', () => {
          asked.off('exit', died)
          resolve(false)
        })
        asked.stdin?.write('\n')
      })
    },
    // At the end of its input it ends; also if we are killed.
    dismiss() {
      isDismissed = true
      echo.stdin?.end()
    },
  }
}

function startEcho(): ChildProcess {
  const echo = spawn('cat', { cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] })
  // It may be gone by the time it is asked: its end tells, not the pipe.
  echo.stdin.on('error', () => undefined)
  echo.on('error', () => undefined)
  echo.unref()
  return echo
}
