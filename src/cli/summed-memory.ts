// Memory that can sum itself up. Part of every start of the program: `crc32` of node:zlib is as quick, and takes four
// milliseconds to load, with the streams that come with it.

/**
 * What the bytes below are, made by hand. Each step can be undone, so that no single change goes unseen.
 *
 *     (module (memory (export "memory") 0)
 *       (func (export "sum") (param $end i32) (param $seed i64) (result i64)
 *         (local $at i32) (local $a i64) …                    ;; $a to $d, all of them $seed at first
 *         (loop                                               ;; 32 bytes, for each of the four lanes:
 *           (local.set $a (i64.mul (i64.xor (local.get $a) (i64.load (local.get $at))) FACTOR))
 *           (local.set $a (i64.xor (local.get $a) (i64.shr_u (local.get $a) 29))) …
 *           (br_if 0 (i32.lt_u (local.tee $at (i32.add (local.get $at) 32)) (local.get $end))))
 *         ((($a · FACTOR ^ $b) · FACTOR ^ $c) · FACTOR ^ $d)))
 */
const MODULE =
  'AGFzbQEAAAABBwFgAn9+AX4DAgEABQMBAAAHEAIGbWVtb3J5AgADc3VtAAAKzwEBzAECAX8EfiABIQMgASEEIAEhBSABIQYDQCADIAIpAwCFQpX4qfqX' +
  't96bnn9+IgMgA0IdiIUhAyAEIAIpAwiFQpX4qfqXt96bnn9+IgQgBEIdiIUhBCAFIAIpAxCFQpX4qfqXt96bnn9+IgUgBUIdiIUhBSAGIAIpAxiFQpX4' +
  'qfqXt96bnn9+IgYgBkIdiIUhBiACQSBqIgIgAEkNAAsgA0KV+Kn6l7fem55/fiAEhUKV+Kn6l7fem55/fiAFhUKV+Kn6l7fem55/fiAGhQs='

export const FACTOR = 0x9e3779b97f4a7c15n
/** What is summed up at once: the memory is as long as a multiple of it. */
export const SUM_STEP = 32
const PAGE_BYTES = 1 << 16

export type SummedMemory = {
  /** Zeros at first. */
  readonly bytes: Buffer
  /** Of everything up to `end`, a multiple of the step. */
  readonly sum: (end: number, seed: bigint) => bigint
}

/** Undefined where there is none. */
export function summedMemory(byteCount: number): SummedMemory | undefined {
  try {
    const made = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(MODULE, 'base64')))
    const { memory, sum } = made.exports as SumExports
    memory.grow(Math.ceil(byteCount / PAGE_BYTES))
    const bytes = Buffer.from(memory.buffer)
    return { bytes, sum: (end, seed) => BigInt.asUintN(64, sum(end, seed)) }
  } catch {
    // No WebAssembly in this Node, none allowed here, or no room for it: who asks can do without.
    return undefined
  }
}

type SumExports = {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  readonly sum: (end: number, seed: bigint) => bigint
}
