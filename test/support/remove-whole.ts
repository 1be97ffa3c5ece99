// The end of a scratch folder, in which somebody may still be at work.
import { rmSync } from 'node:fs'
import { hasCode } from '../../src/model/index.js'

/**
 * A process that was killed a moment ago may still be in the middle of a last call, and one that nobody waits for may
 * write once more. Node tries again with the folder alone, and not with what has come into it since. `before` is done
 * before each try.
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
