// Where a test kills the process, with SIGKILL, as the world would. SAVESTATE_FAILPOINT names the place
// and, after an `@`, on which visit (default: the first).

const [target, visit] = (process.env['SAVESTATE_FAILPOINT'] ?? '').split('@')
let visitsLeft = Number(visit ?? 1)

export function failpoint(name: string): void {
  if (name !== target) return
  visitsLeft -= 1
  if (visitsLeft > 0) return
  process.kill(process.pid, 'SIGKILL')
  // The signal arrives when the kernel gets to it; nothing may happen in between.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
