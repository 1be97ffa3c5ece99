// Finds out whether a signal went to our whole process group, like Ctrl-C and `kill %1`, or only to us. In the first case the
// command has received it too, and must not get it twice. Node cannot tell the two apart, so a `cat` process runs in the
// same group: either the signal has killed it, or it still echoes.
import { type ChildProcess, spawn } from 'node:child_process'

type SignalProbe = {
  /** Whether the whole group received this signal. */
  received(signal: NodeJS.Signals): Promise<boolean>
  end(): void
}

export function startSignalProbe(): SignalProbe {
  let echo = startEcho()
  let isEnded = false
  return {
    received(signal) {
      const asked = echo
      return new Promise((resolve) => {
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
        asked.stdout?.once('data', () => {
          asked.off('exit', died)
          resolve(false)
        })
        asked.stdin?.write('\n')
      })
    },
    // `cat` ends at the end of its input, also if we are killed.
    end() {
      isEnded = true
      echo.stdin?.end()
    },
  }
}

function startEcho(): ChildProcess {
  const echo = spawn('cat', { cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] })
  // It may have ended already: then its exit event counts, not the pipe.
  echo.stdin.on('error', () => undefined)
  echo.on('error', () => undefined)
  echo.unref()
  return echo
}
