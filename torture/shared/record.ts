// A file to which all processes append what happened to them. One write per entry, so the entries have one order for all processes, and an
// entry that was written survives the kill of its process.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import type { Entry, Event } from './messages.js'

export function openRecord(path: string, process: string): (event: Event) => void {
  const fd = openSync(path, 'a')
  return (event) => {
    const line = Buffer.from(`${JSON.stringify({ ...event, process })}\n`)
    if (writeSync(fd, line) < line.length) throw new Error('The record could not be written')
  }
}

/** Returns the entries since the last call. */
export function followRecord(path: string): { read(): readonly Entry[]; close(): void } {
  const fd = openSync(path, 'a+')
  const chunk = Buffer.alloc(1 << 16)
  let rest = Buffer.alloc(0)
  let position = 0
  return {
    read() {
      const parts = [rest]
      for (;;) {
        const bytes = readSync(fd, chunk, 0, chunk.length, position)
        if (bytes === 0) break
        parts.push(Buffer.from(chunk.subarray(0, bytes)))
        position += bytes
      }
      const all = Buffer.concat(parts)
      const end = all.lastIndexOf(10) + 1
      rest = all.subarray(end)
      const lines = all.subarray(0, end).toString('utf8').split('\n')
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry)
    },
    close: () => closeSync(fd),
  }
}
