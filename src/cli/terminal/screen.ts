// The streams that a command writes to: results go to stdout, everything else to stderr.
import { wrapMessage } from './wrap.js'
import { type Paint, paintFor, wantsColor } from './colors.js'

export type Screen = {
  /** For stdout. */
  readonly paint: Paint
  readonly isTerminal: boolean
  /** Columns of stdout; Infinity if it is not a terminal. */
  readonly width: number
  readonly now: Date
  print(text: string): void
  /** On stderr. */
  note(text: string): void
  /** For stderr. */
  readonly paintNote: Paint
}

export type Output = {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

export type Terminal = {
  readonly stdout: Output
  readonly stderr: Output
  readonly env: NodeJS.ProcessEnv
}

export function openScreen({ stdout, stderr, env }: Terminal): Screen {
  const noteWidth = stderr.isTTY === true ? stderr.columns || 80 : Infinity
  return {
    paint: paintFor(wantsColor(stdout, env)),
    paintNote: paintFor(wantsColor(stderr, env)),
    isTerminal: stdout.isTTY === true,
    width: stdout.isTTY === true ? stdout.columns || 80 : Infinity,
    now: new Date(),
    print: (text) => void (text === '' || stdout.write(withEnd(text))),
    note: (text) => void stderr.write(withEnd(wrapMessage(text, noteWidth))),
  }
}

function withEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
