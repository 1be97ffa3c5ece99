// Where a command writes to. Node's own streams take three milliseconds to load, and set a pipe that others share to
// another mode: what is no terminal is written to without them.
import { fstatSync, statSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'
import { hasCode } from '../../base/index.js'
import type { Output, Terminal } from './screen.js'

const NUMBER = { stdout: 1, stderr: 2 } as const
type Name = keyof typeof NUMBER
type TellFault = (error: unknown) => void

const watched = new Set<Name>()
let tellFault: TellFault = rethrow

/** `tell` hears of what goes wrong with either. That nobody reads any more is no fault. */
export function ownTerminal(tell: TellFault = rethrow): Terminal {
  tellFault = tell
  return { stdout: outputTo('stdout'), stderr: outputTo('stderr'), env: process.env }
}

/** On stdout, byte for byte. */
export function printBytes(bytes: Buffer): void {
  const rest = mayBeTerminal(NUMBER.stdout) ? bytes : writeNow(NUMBER.stdout, bytes)
  if (rest !== undefined && rest.length > 0) ownStream('stdout').write(rest)
}

/** Node's own, for who needs more than to write a text. */
export function ownStream(name: Name): NodeJS.WriteStream {
  const stream = process[name]
  if (!watched.has(name)) stream.on('error', (error) => judge(error, stream.isTTY))
  watched.add(name)
  return stream
}

function outputTo(name: Name): Output {
  if (mayBeTerminal(NUMBER[name])) return ownStream(name)
  let hasToWait = false
  return {
    write(text) {
      const rest = hasToWait ? text : writeNow(NUMBER[name], Buffer.from(text))
      if (rest === undefined) return
      hasToWait = true
      ownStream(name).write(rest)
    },
  }
}

/** What could not be written: who made the pipe does not want to be waited for, and has not read it yet. */
function writeNow(output: number, bytes: Buffer): Buffer | undefined {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(output, bytes, written)
  } catch (error) {
    if (hasCode(error, 'EAGAIN')) return bytes.subarray(written)
    judge(error, false)
  }
  return undefined
}

/**
 * `savestate list | head -1`: the reader has seen enough. What is under way goes on to its end. The terminal was closed:
 * nobody is left to tell.
 */
function judge(error: unknown, isTerminal: boolean): void {
  if (!hasCode(error, 'EPIPE') && !(isTerminal && hasCode(error, 'EIO'))) tellFault(error)
}

function rethrow(error: unknown): never {
  throw error
}

function mayBeTerminal(output: number): boolean {
  if (process.platform === 'win32') return true
  const found = fstatSync(output)
  if (found.isFIFO() || found.isSocket() || found.isFile()) return false
  return found.rdev !== statSync(devNull).rdev
}
