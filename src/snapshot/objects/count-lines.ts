// Lines as `git diff --numstat` counts them: a file with a NUL in its first 8,000 bytes is binary and has
// none; a last line without a newline counts.

const BINARY_LOOK_BYTES = 8000

export type LineCount = { count: number; isBinary: boolean; seenBytes: number; endsOpen: boolean }

export function startLineCount(): LineCount {
  return { count: 0, isBinary: false, seenBytes: 0, endsOpen: false }
}

export function countLines(state: LineCount, chunk: Buffer): void {
  if (state.isBinary || chunk.length === 0) return
  if (state.seenBytes < BINARY_LOOK_BYTES) {
    const end = Math.min(chunk.length, BINARY_LOOK_BYTES - state.seenBytes)
    const nul = chunk.indexOf(0)
    if (nul !== -1 && nul < end) {
      state.isBinary = true
      return
    }
  }
  state.seenBytes += chunk.length
  let newlines = 0
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) newlines += 1
  const endsOpen = chunk[chunk.length - 1] !== 10
  // An open last line of the chunk before goes on in this one: it was counted there already.
  state.count += newlines + (endsOpen ? 1 : 0) - (state.endsOpen ? 1 : 0)
  state.endsOpen = endsOpen
}

export function linesOf(content: Buffer): number {
  const state = startLineCount()
  countLines(state, content)
  return state.isBinary ? 0 : state.count
}
