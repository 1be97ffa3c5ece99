// The format on the Unix socket: one JSON object per line.
import { isRecord, tryParseJson } from '../base/index.js'

export type Line = Readonly<Record<string, unknown>>

/** Calls `on.line` for each complete line, and `on.fault` once for a line that is not an object or too long. */
export function lineReader(
  maxChars: number,
  on: { readonly line: (line: Line) => void; readonly fault: () => void },
): (text: string) => void {
  let rest = ''
  let isFaulty = false
  const fail = () => {
    isFaulty = true
    on.fault()
  }
  return (text) => {
    if (isFaulty) return
    rest += text
    // A long line arrives in many pieces: split only when it is complete.
    const lines = text.includes('\n') ? rest.split('\n') : [rest]
    rest = lines.pop() ?? ''
    for (const line of lines.map(tryParseJson)) {
      if (!isRecord(line)) return fail()
      on.line(line)
    }
    if (rest.length > maxChars) fail()
  }
}

export function formatLine(line: Line): string {
  return `${JSON.stringify(line)}\n`
}
