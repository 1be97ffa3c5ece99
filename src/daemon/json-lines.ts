// The format on the Unix socket: one JSON object per line.
import { isRecord, tryParseJson } from '../base/index.js'

export type Line = Readonly<Record<string, unknown>>

/** Calls `on.line` for each complete line, and `on.fault` once for a line that is not an object or too long. */
export function lineReader(
  options: { readonly maxChars: number },
  on: { readonly line: (line: Line) => void; readonly fault: () => void },
): (text: string) => void {
  let rest: string[] = []
  let length = 0
  let isFaulty = false
  const fail = () => {
    isFaulty = true
    rest = []
    on.fault()
  }
  return (text) => {
    if (isFaulty) return
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      rest.push(text.slice(from, end))
      const line = parseLine(rest.join(''))
      rest = []
      length = 0
      from = end + 1
      if (line === undefined) return fail()
      on.line(line)
      if (isFaulty) return
    }
    if (from === text.length) return
    rest.push(text.slice(from))
    length += text.length - from
    if (length > options.maxChars) fail()
  }
}

export function formatLine(line: Line): string {
  return `${JSON.stringify(line)}\n`
}

function parseLine(text: string): Line | undefined {
  const json = tryParseJson(text)
  return isRecord(json) ? json : undefined
}
