// Git's deltas: a content as pieces of another one and new bytes in between.

/** Undefined for a delta that does not fit its base, or makes more than `maxBytes` of it. */
export function applyDelta(base: Buffer, delta: Buffer, maxBytes = Infinity): Buffer | undefined {
  let at = 0
  const size = () => {
    let [value, unit] = [0, 1]
    for (;;) {
      const byte = delta[at] ?? 0
      at += 1
      value += (byte & 127) * unit
      unit *= 128
      if (byte < 128) return value
    }
  }
  if (size() !== base.length) return undefined
  const wanted = size()
  if (wanted > maxBytes) return undefined
  let made = 0
  const pieces: Buffer[] = []
  while (at < delta.length) {
    const order = delta[at] ?? 0
    at += 1
    if (order === 0) return undefined
    const piece = order < 128 ? delta.subarray(at, at + order) : copied(order)
    if (order < 128) at += order
    if (piece === undefined) return undefined
    made += piece.length
    // A few bytes can ask for any number of copies: what is too much is not put together.
    if (made > wanted) return undefined
    pieces.push(piece)
  }
  const content = Buffer.concat(pieces)
  return content.length === wanted ? content : undefined

  /** Which bytes of offset and length follow is said by the bits of the order. */
  function copied(order: number): Buffer | undefined {
    const numberOf = (bits: number, first: number) => {
      let value = 0
      for (let n = 0; n < bits; n++) {
        if ((order & (1 << (first + n))) === 0) continue
        value += (delta[at] ?? 0) * 256 ** n
        at += 1
      }
      return value
    }
    const offset = numberOf(4, 0)
    const length = numberOf(3, 4) || 0x10000
    return offset + length > base.length ? undefined : base.subarray(offset, offset + length)
  }
}
