// What an agent tells its hook on stdin. Read once, by whoever comes first: who forwards it, or who does the work.
import { MAX_INPUT_BYTES } from '../http/index.js'

let read: Promise<string | undefined> | undefined

/** Undefined for more than any event has. */
export function hookInput(): Promise<string | undefined> {
  read ??= readInput()
  return read
}

async function readInput(): Promise<string | undefined> {
  const parts: Buffer[] = []
  let sizeBytes = 0
  for await (const part of process.stdin) {
    const bytes = Buffer.from(part)
    sizeBytes += bytes.length
    if (sizeBytes > MAX_INPUT_BYTES) return undefined
    parts.push(bytes)
  }
  return Buffer.concat(parts).toString('utf8')
}
