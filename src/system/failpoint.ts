// Failpoints kill the process with SIGKILL at a named step, so that tests can simulate a crash there.
// SAVESTATE_FAILPOINT is a name, optionally with `@n`: kill on the nth visit (default 1).

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
