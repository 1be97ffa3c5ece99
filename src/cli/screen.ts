// The two streams a command writes to: the answer on one, everything else on the other.
import { hasCode, reportAndExit } from './exit.js'
import { type Paint, paintFor, wantsColour } from './paint.js'

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

export function openScreen(): Screen {
  const { stdout, stderr, env } = process
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error) => {
      // `savestate list | head -1`: the reader has seen enough. What is under way goes on to its end.
      if (!hasCode(error, 'EPIPE')) void reportAndExit(error)
    })
  }
  return {
    paint: paintFor(wantsColour(stdout, env)),
    paintNote: paintFor(wantsColour(stderr, env)),
    isTerminal: stdout.isTTY === true,
    width: stdout.isTTY === true ? stdout.columns || 80 : Infinity,
    now: new Date(),
    print: (text) => void (text === '' || stdout.write(withEnd(text))),
    note: (text) => void stderr.write(withEnd(text)),
  }
}

function withEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
