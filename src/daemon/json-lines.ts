// The format on the Unix socket: one JSON object per line.
import { isRecord, tryParseJson } from '../base/index.js'

export type Line = Readonly<Record<string, unknown>>

/** Gives each whole line to `onLine`. A line that is no object, or longer than `maxChars`, goes to `onFault`, once. */
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
      const line = parsed(rest.join(''))
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

export function lineOf(line: Line): string {
  return `${JSON.stringify(line)}\n`
}

function parsed(text: string): Line | undefined {
  const json = tryParseJson(text)
  return isRecord(json) ? json : undefined
}
