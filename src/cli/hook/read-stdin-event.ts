// What an agent tells its hook on stdin. Read once, by whoever comes first: who forwards it, or who does the work.
import { MAX_INPUT_BYTES } from '../../daemon/index.js'

let read: Promise<string | undefined> | undefined

/** Undefined for more than any event has. */
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
