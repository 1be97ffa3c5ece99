// Removes a scratch folder while another process may still write to it.
import { rmSync } from 'node:fs'
import { hasCode } from '../../src/model/index.js'

/**
 * A killed process may still be in its last system call, and a detached one may write again. Node's own retries do not list the
 * folder again, so new files make them fail. `before` runs before each attempt.
 */
export function removeWhole(folder: string, before: () => void = () => undefined): void {
  const deadline = performance.now() + 20_000
  for (;;) {
    try {
      before()
      return rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      const isInUse = hasCode(error, 'ENOTEMPTY', 'EBUSY', 'ENOENT')
      if (!isInUse || performance.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    }
  }
}
