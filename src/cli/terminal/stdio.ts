// The output streams of a command. Node's own streams take 3 ms to load and make a shared pipe non-blocking, so output
// that is not a terminal is written without them.
import { fstatSync, statSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'
import { hasCode } from '../../base/index.js'
import type { Output, Terminal } from './screen.js'

const NUMBER = { stdout: 1, stderr: 2 } as const
type Name = keyof typeof NUMBER
type OnError = (error: unknown) => void

const watched = new Set<Name>()
let onError: OnError = rethrow

/** `report` is called for errors of either stream, except when the reader has gone. */
export function ownTerminal(report: OnError = rethrow): Terminal {
  onError = report
  return { stdout: outputTo('stdout'), stderr: outputTo('stderr'), env: process.env }
}

/** Writes to stdout, byte for byte. */
export function printBytes(bytes: Buffer): void {
  const rest = mayBeTerminal(NUMBER.stdout) ? bytes : writeNow(NUMBER.stdout, bytes)
  if (rest !== undefined && rest.length > 0) ownStream('stdout').write(rest)
}

/** Node's own stream, for callers that need more than writing text. */
export function ownStream(name: Name): NodeJS.WriteStream {
  const stream = process[name]
  if (!watched.has(name)) stream.on('error', (error) => handleError(error, stream.isTTY))
  watched.add(name)
  return stream
}

function outputTo(name: Name): Output {
  if (mayBeTerminal(NUMBER[name])) return ownStream(name)
  let isQueued = false
  return {
    write(text) {
      const rest = isQueued ? text : writeNow(NUMBER[name], Buffer.from(text))
      if (rest === undefined) return
      isQueued = true
      ownStream(name).write(rest)
    },
  }
}

/** Returns the rest if the pipe is non-blocking and full. */
function writeNow(output: number, bytes: Buffer): Buffer | undefined {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(output, bytes, written)
  } catch (error) {
    if (hasCode(error, 'EAGAIN')) return bytes.subarray(written)
    handleError(error, false)
  }
  return undefined
}

/** Ignores a reader that has gone (`savestate list | head -1`) and a closed terminal. The command runs to its end. */
function handleError(error: unknown, isTerminal: boolean): void {
  if (!hasCode(error, 'EPIPE') && !(isTerminal && hasCode(error, 'EIO'))) onError(error)
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
