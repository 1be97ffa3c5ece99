// Starts a command as a shell would: same process group, terminal and umask, and the same exit codes if it cannot start.
import { type ChildProcess, spawn } from 'node:child_process'
import { fstatSync, readFileSync } from 'node:fs'
import { hasCode } from '../../base/index.js'
import { withGivenUmask } from '../start/umask.js'

export type Ending = {
  readonly exitCode: number | null
  /** The signal that killed it; then there is no exit code. */
  readonly signal: NodeJS.Signals | null
  /** Why it was not started. */
  readonly refusal?: string
}

const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

export function startCommand(words: readonly string[]): {
  /** Undefined if it was not started. */
  readonly child: ChildProcess | undefined
  readonly ended: Promise<Ending>
} {
  if (words[0] === '') return { child: undefined, ended: Promise.resolve(NO_COMMAND) }
  const stdio = ['inherit', 'inherit', 'inherit', ...openFiles(words)] as const
  try {
    const { file, args } = keepVariables(words)
    const child = withGivenUmask(() => spawn(file, args, { stdio: [...stdio] }))
    const ended = new Promise<Ending>((resolve) => {
      child.once('error', (error) => resolve(refusalOf(error)))
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    })
    return { child, ended }
  } catch (error) {
    // If the arguments are too long, spawn throws instead of emitting an event.
    if (!(error instanceof Error) || !('syscall' in error)) throw error
    return { child: undefined, ended: Promise.resolve(refusalOf(error)) }
  }
}

const NO_COMMAND: Ending = { exitCode: NOT_FOUND, signal: null, refusal: 'command not found' }

/** Node passes the environment as UTF-8, so a shell sets variables in other encodings again. */
function keepVariables(words: readonly string[]): { file: string; args: readonly string[] } {
  const [file = '', ...args] = words
  const lossy = Object.keys(process.env).filter((name) => process.env[name]?.includes('\ufffd'))
  if (lossy.length === 0 || process.platform !== 'linux') return { file, args }
  const lines = readFileSync('/proc/self/environ', 'latin1')
    .split('\0')
    .flatMap((line) => {
      const [name = '', ...value] = line.split('=')
      // A shell can set only these names.
      if (!lossy.includes(name) || !/^[A-Za-z_]\w*$/.test(name)) return []
      const octal = value.join('=').replace(/[^]/g, octalEscape)
      // The x protects line breaks at the end, which a shell would remove.
      return [`${name}=$(printf %b '${octal}x')`, `export ${name}="\${${name}%x}"`]
    })
  if (lines.length === 0) return { file, args }
  const script = [...lines, 'exec "$@"'].join('\n')
  return { file: '/bin/sh', args: ['-c', script, 'savestate', ...words] }
}

function octalEscape(byte: string): string {
  return `\\0${byte.charCodeAt(0).toString(8).padStart(3, '0')}`
}

/** The shell syntax `<(…)` passes the name of an open file descriptor: keep it open for the command. */
function openFiles(words: readonly string[]): ('ignore' | number)[] {
  const named = words.flatMap((word) => {
    const [, number] = /^\/(?:dev|proc\/self)\/fd\/([0-9]{1,4})$/.exec(word) ?? []
    const descriptor = Number(number)
    return number !== undefined && descriptor > 2 && isOpen(descriptor) ? [descriptor] : []
  })
  const last = Math.max(2, ...named)
  return Array.from({ length: last - 2 }, (_, at) => (named.includes(at + 3) ? at + 3 : 'ignore'))
}

function isOpen(descriptor: number): boolean {
  try {
    fstatSync(descriptor)
    return true
  } catch (error) {
    if (hasCode(error, 'EBADF')) return false
    throw error
  }
}

function refusalOf(error: Error): Ending {
  if (hasCode(error, 'ENOENT')) return NO_COMMAND
  const isForbidden = hasCode(error, 'EACCES') || hasCode(error, 'EPERM')
  const refusal = isForbidden ? 'permission denied' : error.message
  return { exitCode: NOT_EXECUTABLE, signal: null, refusal }
}
