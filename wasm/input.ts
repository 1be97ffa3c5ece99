// Bits on their way in. After a refill there are 56 at least: behind the end of the input whatever stands there, so that
// nobody has to ask for each symbol. `isPastEnd` says afterwards whether bits were taken that nobody sent.

let next: usize = 0
let end: usize = 0
let bits: u64 = 0
let bitCount: u64 = 0

export function beginInput(at: usize, size: i32): void {
  goOnReading(at, 0, 0)
  end = at + size
}

/** Reads eight bytes, and keeps those that there is room for. */
export function refill(): void {
  bits |= load<u64>(next) << bitCount
  next += <usize>((63 - bitCount) >> 3)
  bitCount |= 56
}

export function take(width: u64): u32 {
  const value = <u32>(bits & (((<u64>1) << width) - 1))
  bits >>= width
  bitCount -= width
  return value
}

/** What comes next begins with a new byte, at `nextInput`. */
export function alignInput(): void {
  goOnReading(next - <usize>(bitCount >> 3), 0, 0)
}

/** Only after `alignInput`. */
export function bytesLeft(): i32 {
  return <i32>(end - next)
}

export function isPastEnd(): bool {
  return next - <usize>(bitCount >> 3) > end
}

export function endOfInput(): usize {
  return end
}

/** For who takes many, and keeps the three to itself meanwhile. */
export function nextInput(): usize {
  return next
}

export function bitsRead(): u64 {
  return bits
}

export function countRead(): u64 {
  return bitCount
}

export function goOnReading(at: usize, read: u64, count: u64): void {
  next = at
  bits = read
  bitCount = count
}
