// Bits on their way out. Up to 56 may be put before they have to be flushed.

let out: usize = 0
let bits: u64 = 0
let bitCount: u64 = 0

export function beginOutput(at: usize): void {
  out = at
  bits = 0
  bitCount = 0
}

export function put(value: u32, width: u32): void {
  bits |= (<u64>value) << bitCount
  bitCount += width
}

/** Writes the whole bytes, and over up to eight behind them. */
export function flush(): void {
  store<u64>(out, bits)
  out += <usize>(bitCount >> 3)
  bits >>= bitCount & ~7
  bitCount &= 7
}

/** What comes next begins with a new byte. */
export function align(): void {
  flush()
  if (bitCount == 0) return
  bitCount = 8
  flush()
}

/** Only after `align`. */
export function putBytes(from: usize, size: i32): void {
  memory.copy(out, from, size)
  out += size
}

export function endOfOutput(): usize {
  return out
}

/** For who sends many, and keeps the three to itself meanwhile. */
export function pendingBits(): u64 {
  return bits
}

export function pendingCount(): u64 {
  return bitCount
}

export function goOn(at: usize, pending: u64, count: u64): void {
  out = at
  bits = pending
  bitCount = count
}
