// Logs failures of the background process. Bounded: when the log is full, its older half is dropped.
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonLock } from '../../internal.js'

const MAX_BYTES = 64 << 10

export function failureLog({ folder }: Pick<DaemonLock, 'folder'>): (error: unknown) => void {
  const path = join(folder, 'log')
  return (error) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const entry = `${new Date().toISOString()} ${text}\n`.slice(0, MAX_BYTES / 4)
    try {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (size + entry.length > MAX_BYTES)
        writeFileSync(path, readFileSync(path, 'utf8').slice(-MAX_BYTES / 2), { mode: 0o600 })
      appendFileSync(path, entry, { mode: 0o600 })
    } catch {
      // The disk is full or the store was removed. There is nowhere else to report it.
    }
  }
}
