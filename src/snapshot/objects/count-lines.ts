// Counts lines like `git diff --numstat`: a file with a NUL in its first 8,000 bytes is binary and has none; a last line
// without a newline counts.

const BINARY_LOOK_BYTES = 8000
const NEWLINE = 0x0a

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
  // The unfinished last line of the previous chunk continues here and was already counted.
  state.count += newlines + (endsOpen ? 1 : 0) - (state.endsOpen ? 1 : 0)
  state.endsOpen = endsOpen
}

/** Whether git treats content that starts with this chunk as binary. */
export function hasNul(chunk: Buffer, lookBytes = BINARY_LOOK_BYTES): boolean {
  if (lookBytes <= 0) return false
  return chunk.subarray(0, lookBytes).includes(0)
}

function newlinesIn(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count += 1
  return count
}

export function linesOf(content: Buffer): number {
  const state = startLineCount()
  countLines(state, content)
  return state.isBinary ? 0 : state.count
}
