// A command of the program on a real terminal.
import { spawn } from 'node:child_process'
import { expect } from 'vitest'
import type { Scratch } from './program.js'

export function onTerminal(
  s: Scratch,
  command: string,
  { rows, columns } = { rows: 24, columns: 80 },
) {
  const size = `stty rows ${rows} cols ${columns}`
  const child = spawn('script', ['-qec', `${size}; ${command}`, '/dev/null'], {
    cwd: s.project,
    env: { ...s.environment, SHELL: '/bin/sh', NO_COLOR: '1' },
  })
  let output = ''
  child.stdout.on('data', (text) => (output += String(text)))
  return {
    output: () => output,
    type: (keys: string) => void child.stdin.write(keys),
    /** Ends the terminal, as a lost connection does. */
    cut: () => void child.kill('SIGKILL'),
    async shows(text: string) {
      await expect.poll(() => output, { timeout: 60_000 }).toContain(text)
    },
    ended: new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    }),
  }
}
