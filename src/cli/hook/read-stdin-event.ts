// Reads the event of an agent from stdin, once: for the daemon, and again if this process must handle the event.
import { MAX_INPUT_BYTES } from '../../daemon/index.js'

let read: Promise<string | undefined> | undefined

/** Undefined if the input is larger than any event. */
export function hookInput(): Promise<string | undefined> {
  read ??= readInput()
  return read
}

function readInput(): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const { stdin } = process
    const parts: Buffer[] = []
    let sizeBytes = 0
    stdin.on('data', (part) => {
      const bytes = Buffer.from(part)
      sizeBytes += bytes.length
      if (sizeBytes <= MAX_INPUT_BYTES) parts.push(bytes)
      else {
        stdin.destroy()
        resolve(undefined)
      }
    })
    stdin.on('end', () => resolve(Buffer.concat(parts).toString('utf8')))
    stdin.on('error', reject)
  })
}
