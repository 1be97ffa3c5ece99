// The client side of the Unix socket. Part of every hook, so it loads only `node:net`, and only if there is a daemon.
import type { Address } from '../address.js'
import { type Line, formatLine, lineReader } from '../json-lines.js'

/** After this time without an answer the caller does the work itself. */
export const PATIENCE_MS = 1500
/** Time to read what arrived while this process was suspended. */
const LAST_MS = 1000

type Exchange = {
  readonly first: Line
  readonly onLine: (line: Line, end: CallerEnd) => void
  readonly patienceMs?: number
  /** The longest time between two lines. */
  readonly silenceMs?: number
  /** The longest time for the whole conversation. */
  readonly limitMs?: number
}

type CallerEnd = {
  readonly send: (line: Line) => void
  readonly leave: () => void
}

/** `silent`: there was no answer in time. `closed`: there was one, and the conversation is over. */
export function exchange(
  { socket }: Pick<Address, 'socket'>,
  of: Exchange,
): Promise<'silent' | 'closed'> {
  const { connect } = process.getBuiltinModule('node:net')
  return new Promise((resolve) => {
    const connection = connect(socket)
    let isAnswered = false
    let silence: NodeJS.Timeout | undefined
    const end = () => {
      clearTimeout(timer)
      clearTimeout(limit)
      clearTimeout(silence)
      connection.destroy()
      resolve(isAnswered ? 'closed' : 'silent')
    }
    const timer = setTimeout(end, of.patienceMs ?? PATIENCE_MS)
    const limit = of.limitMs === undefined ? undefined : setTimeout(end, of.limitMs)
    const listen = () => {
      if (of.silenceMs === undefined) return
      clearTimeout(silence)
      silence = setTimeout(() => {
        silence = setTimeout(end, LAST_MS)
      }, of.silenceMs)
    }
    const send = (line: Line) => void connection.write(formatLine(line))
    const read = lineReader(
      { maxChars: Number.MAX_SAFE_INTEGER },
      {
        line(line) {
          isAnswered = true
          clearTimeout(timer)
          listen()
          of.onLine(line, { send, leave: end })
        },
        fault: end,
      },
    )
    connection.setEncoding('utf8')
    connection.on('data', (text) => read(String(text)))
    // A close follows every error.
    connection.on('error', () => undefined)
    connection.on('close', end)
    send(of.first)
  })
}
