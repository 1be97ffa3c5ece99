// Lines as `git diff --numstat` counts them: a file with a NUL in its first 8,000 bytes is binary and has
// none; a last line without a newline counts.

const BINARY_LOOK_BYTES = 8000
const NEWLINE = 0x0a
const NO_WORDS = new Int32Array(0)

export type LineCount = { count: number; isBinary: boolean; seenBytes: number; endsOpen: boolean }

export function startLineCount(): LineCount {
  return { count: 0, isBinary: false, seenBytes: 0, endsOpen: false }
}

export function countLines(state: LineCount, chunk: Buffer): void {
  if (state.isBinary || chunk.length === 0) return
  if (hasNul(chunk, BINARY_LOOK_BYTES - state.seenBytes)) {
    state.isBinary = true
    return
  }
  state.seenBytes += chunk.length
  const newlines = newlinesIn(chunk)
  const endsOpen = chunk[chunk.length - 1] !== 10
  // An open last line of the chunk before goes on in this one: it was counted there already.
  state.count += newlines + (endsOpen ? 1 : 0) - (state.endsOpen ? 1 : 0)
  state.endsOpen = endsOpen
}

/** Whether a content that begins like this is binary to git. */
export function hasNul(chunk: Buffer, lookBytes = BINARY_LOOK_BYTES): boolean {
  if (lookBytes <= 0) return false
  const nul = chunk.indexOf(0)
  return nul !== -1 && nul < lookBytes
}

/**
 * Sixteen bytes at a time: a search for one line's end after the other costs more than hashing what it passes
 * over. In each word the bytes that are newlines leave one bit, and nothing else does.
 */
function newlinesIn(chunk: Buffer): number {
  const { buffer, byteOffset, length } = chunk
  const start = Math.min(length, -byteOffset & 3)
  // Words begin at multiples of four, of which a few bytes may reach none.
  const wordCount = (length - start) >> 2
  const words = wordCount === 0 ? NO_WORDS : new Int32Array(buffer, byteOffset + start, wordCount)
  let count = 0
  for (let at = 0; at < words.length; ) {
    // Each byte of the sum counts up to 255 words.
    const end = Math.min(words.length, at + 252)
    let sum = 0
    for (; at + 4 <= end; at += 4) {
      const two = newlineBits(words[at] ?? 0) + newlineBits(words[at + 1] ?? 0)
      sum = (sum + two + newlineBits(words[at + 2] ?? 0) + newlineBits(words[at + 3] ?? 0)) | 0
    }
    for (; at < end; at++) sum = (sum + newlineBits(words[at] ?? 0)) | 0
    count += (sum & 255) + ((sum >>> 8) & 255) + ((sum >>> 16) & 255) + (sum >>> 24)
  }
  for (let at = 0; at < start; at++) if (chunk[at] === NEWLINE) count += 1
  for (let at = start + words.length * 4; at < length; at++) if (chunk[at] === NEWLINE) count += 1
  return count
}

/** The lowest bit of each byte that is a newline. */
function newlineBits(word: number): number {
  const other = word ^ 0x0a0a0a0a
  return (~(((other & 0x7f7f7f7f) + 0x7f7f7f7f) | other) >>> 7) & 0x01010101
}

export function linesOf(content: Buffer): number {
  const state = startLineCount()
  countLines(state, content)
  return state.isBinary ? 0 : state.count
}
