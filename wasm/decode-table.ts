// Tables in which the next bits of a stream are looked up: one look gives the symbol and all that is known about it. Codes
// that are wider than a table go on in a second one behind it.

/**
 * An entry: from bit 16 what the symbol stands for, from bit 8 the width of its code, in the lowest six bits that and the extra
 * bits that follow. One that is OUT_OF_LINE is the end of a block, leads to a second table, or is no symbol.
 */
export const LITERAL: u32 = 0x80
export const OUT_OF_LINE: u32 = 0x8000
export const SECOND: u32 = 0x4000
export const END: u32 = 0x2000

const WIDEST: i32 = 15
/** The width stands in an entry twice. */
const ONE_WIDER: u32 = 0x101

let widest: i32 = 0
let unused: i32 = 0
/** The lists of symbols, one for each width, and where each of them ends. */
let lists: usize = 0
let listBytes: usize = 0
let ends: usize = 0

export function beginLists(at: usize, bytes: usize, next: usize): void {
  for (let width = 0; width <= WIDEST; width++)
    store<usize>(next + (width << 2), at + <usize>width * bytes)
}

/** To the list of its width; symbols come in their order. */
export function addSymbol(next: usize, width: u32, meaning: u32): void {
  const place = load<usize>(next + (width << 2))
  store<u32>(place, meaning)
  store<usize>(next + (width << 2), place + 4)
}

/** The next table is made of these. How much of all codes is left over; less than 0 if there are too many. */
export function takeLists(at: usize, bytes: usize, next: usize): i32 {
  lists = at
  listBytes = bytes
  ends = next
  unused = 1 << WIDEST
  widest = 0
  for (let width = 1; width <= WIDEST; width++) {
    const count = countOf(width)
    unused -= count << (WIDEST - width)
    if (count != 0) widest = width
  }
  return unused
}

/** How many bits to look up, or -1 if no reader takes such a code: one that is not complete has one symbol at most. */
export function makeTable(table: usize, mostBits: i32): i32 {
  if (unused == 0) return fillTable(table, mostBits)
  if (unused < 0 || widest > 1) return -1
  const nothing = OUT_OF_LINE | ONE_WIDER
  store<u32>(table, widest == 0 ? nothing : load<u32>(lists + listBytes) + ONE_WIDER)
  store<u32>(table, nothing, 4)
  return 1
}

/** Of a complete code. */
function fillTable(table: usize, mostBits: i32): i32 {
  const tableBits = min(mostBits, widest)
  let code: u32 = 0
  // The table has room for the codes so far, and is doubled for those that are wider.
  let entries: u32 = 1
  for (let width = 1; width <= tableBits; width++) {
    double(table, entries)
    entries <<= 1
    const end = endOf(width)
    const widths = width * ONE_WIDER
    for (let at = startOf(width); at < end; at += 4) {
      store<u32>(table + (code << 2), load<u32>(at) + widths)
      code = codeAfter(code, entries - 1)
    }
  }
  if (widest > tableBits) fillSecond(table, tableBits, code)
  return tableBits
}

function fillSecond(table: usize, tableBits: i32, first: u32): void {
  const mask: u32 = (1 << tableBits) - 1
  let code = first
  let prefix: u32 = u32.MAX_VALUE
  let start: u32 = 0
  let end: u32 = 1 << tableBits
  for (let width = tableBits + 1; width <= widest; width++) {
    const last: u32 = (1 << width) - 1
    const stride: u32 = 1 << (width - tableBits)
    const listEnd = endOf(width)
    for (let next = startOf(width); next < listEnd; next += 4) {
      if ((code & mask) != prefix) {
        prefix = code & mask
        start = end
        let bits = width - tableBits
        let used = <u32>((listEnd - next) >> 2)
        while (used < (<u32>1) << bits) {
          bits++
          used = (used << 1) + countOf(tableBits + bits)
        }
        end = start + (1 << bits)
        store<u32>(
          table + (prefix << 2),
          (start << 16) | OUT_OF_LINE | SECOND | (bits << 8) | tableBits,
        )
      }
      const entry = load<u32>(next) + (width - tableBits) * ONE_WIDER
      for (let at = start + (code >> tableBits); at < end; at += stride)
        store<u32>(table + (at << 2), entry)
      code = codeAfter(code, last)
    }
  }
}

function startOf(width: i32): usize {
  return lists + <usize>width * listBytes
}

function endOf(width: i32): usize {
  return load<usize>(ends + (width << 2))
}

function countOf(width: i32): u32 {
  return <u32>((endOf(width) - startOf(width)) >> 2)
}

/**
 * Codes count upwards from their first bit, which is the lowest: the highest bit that is 0 becomes 1, and those above it 0.
 * Behind the last one it does not matter.
 */
function codeAfter(code: u32, last: u32): u32 {
  const bit = <u32>0x80000000 >> clz(code ^ last)
  return (code & (bit - 1)) | bit
}

function double(table: usize, entries: u32): void {
  const end = table + (entries << 2)
  if (entries < 4)
    for (let at = table; at < end; at += 4) store<u32>(at + (entries << 2), load<u32>(at))
  else for (let at = table; at < end; at += 16) v128.store(at + (entries << 2), v128.load(at))
}
