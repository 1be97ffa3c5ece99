// The two streams a command writes to: the answer on one, everything else on the other.
import { wrapMessage } from './wrap.js'
import { type Paint, paintFor, wantsColour } from './colors.js'

export type Screen = {
  /** For stdout. */
  readonly paint: Paint
  readonly isTerminal: boolean
  /** Columns of stdout; endless where it is not a terminal. */
  readonly width: number
  readonly now: Date
  print(text: string): void
  /** On stderr. */
  note(text: string): void
  /** For stderr. */
  readonly paintNote: Paint
}

/** A stream, here or at the other end of a connection. */
export type Output = {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

/** The terminal of who asked: `process` itself in a command that runs by itself. */
export type Terminal = {
  readonly stdout: Output
  readonly stderr: Output
  readonly env: NodeJS.ProcessEnv
}

export function openScreen({ stdout, stderr, env }: Terminal): Screen {
  const noteWidth = stderr.isTTY === true ? stderr.columns || 80 : Infinity
  return {
    paint: paintFor(wantsColour(stdout, env)),
    paintNote: paintFor(wantsColour(stderr, env)),
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
