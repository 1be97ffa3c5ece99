// Asks the daemon over its Unix socket to handle a hook or a save. Part of every hook, so it loads as little as possible:
// `node:net` only if there is a daemon.
import { build, storePath } from '../../base/index.js'
import { type Address, isOwnSocket, readAddress } from '../address.js'
import { bypassesDaemon, environmentFingerprint } from '../environment.js'
import { formatLine, type Line, lineReader } from '../json-lines.js'
import type { DaemonRequest } from '../requests.js'

/** After this time without an answer the caller does the work itself. */
const PATIENCE_MS = 1500
/** A working daemon sends a line every few seconds, so one that is silent for this long hangs. A hook has less time. */
const SILENCE_MS = { save: 60_000, hook: 15_000 } as const
const YOUNG_MS = 60_000

type Exchange = {
  readonly first: Line
  readonly onLine: (
    line: Line,
    end: { readonly send: (line: Line) => void; readonly leave: () => void },
  ) => void
  /** The longest time to the first line. */
  readonly patienceMs?: number
  /** The longest time between two lines; unlimited by default. */
  readonly silenceMs?: number
}

/** Returns when the conversation is over; false if there was no answer in time. */
export function exchange(
  { socket }: Pick<Address, 'socket'>,
  { first, onLine, patienceMs = PATIENCE_MS, silenceMs }: Exchange,
): Promise<boolean> {
  const { connect } = process.getBuiltinModule('node:net')
  return new Promise((resolve) => {
    const connection = connect(socket)
    let isAnswered = false
    const leave = () => {
      clearTimeout(timer)
      connection.destroy()
      resolve(isAnswered)
    }
    let timer = setTimeout(leave, patienceMs)
    const send = (line: Line) => void connection.write(formatLine(line))
    const read = lineReader(Number.MAX_SAFE_INTEGER, {
      line(line) {
        isAnswered = true
        clearTimeout(timer)
        if (silenceMs !== undefined) timer = setTimeout(leave, silenceMs)
        onLine(line, { send, leave })
      },
      fault: leave,
    })
    connection.setEncoding('utf8')
    connection.on('data', (text) => read(String(text)))
    // A close follows every error.
    connection.on('error', () => undefined)
    connection.on('close', leave)
    send(first)
  })
}

/**
 * Undefined if no daemon did the work; the caller then does it. If the daemon dies in the middle, the work may be done twice:
 * an additional checkpoint is better than a missing one.
 */
export async function askDaemon({
  request,
  input = async () => '',
  onProgress,
}: {
  readonly request: DaemonRequest
  /** For a hook: its payload; undefined if it is too large. */
  readonly input?: () => Promise<string | undefined>
  readonly onProgress?: (progress: unknown) => void
}): Promise<Line | undefined> {
  const home = bypassesDaemon(process.env) ? undefined : storePath()
  const address = home === undefined ? undefined : readAddress(home)
  if (home === undefined || address === undefined || !isOwnSocket(address.socket, home))
    return undefined
  if (address.build !== build()) {
    await replace(address, home)
    return undefined
  }
  let answer: Line | undefined
  const asked = exchange(address, {
    first: { ...request, home, build: build(), setting: environmentFingerprint(process.env) },
    silenceMs: SILENCE_MS[request.do],
    onLine(line, { send, leave }) {
      if (line['ready'] === true)
        void input().then(
          (text) => (text === undefined ? leave() : send({ go: true, input: text })),
          leave,
        )
      else if ('progress' in line) onProgress?.(line['progress'])
      else if ('answer' in line || 'error' in line) {
        answer = line
        leave()
      }
    },
  })
  // Read stdin while the daemon gets ready. The caller reports an error of reading.
  input().catch(() => undefined)
  await asked
  return answer
}

/** Starts a daemon of this build, which lets the other one finish its work and end. */
async function replace({ startedAt, pid }: Address, home: string): Promise<void> {
  const ageMs = Date.now() - Date.parse(startedAt)
  // Two versions used alternately would replace each other forever. A start in the future is old: the clock was set back.
  if (ageMs >= 0 && ageMs < YOUNG_MS) return
  const { isRunning, spawnDaemon } = await import('./daemon-process.js')
  if (isRunning(pid)) spawnDaemon(home, ['start'])
}
