// Asks the daemon to handle a hook or a save. Part of every hook, so it loads as little as possible.
import { build, storePath } from '../../base/index.js'
import { type Address, isOwnSocket, readAddress } from '../address.js'
import { bypassesDaemon, environmentFingerprint } from '../environment.js'
import type { Line } from '../json-lines.js'
import type { DaemonRequest } from '../requests.js'
import { exchange } from './connection.js'

const YOUNG_MS = 60_000
/** Longer than the daemon takes to report that a checkpoint takes too long. */
const HOOK_LIMIT_MS = 15_000
/** A working daemon sends a line every few seconds, so one that is silent for this long hangs. */
const SILENCE_MS = 60_000
const PIECE_CHARS = 1 << 16

export type Ask = {
  readonly request: DaemonRequest
  /** For a hook: its payload; undefined if it is too large. */
  readonly input?: () => Promise<string | undefined>
  readonly onProgress?: (progress: unknown) => void
}

/**
 * Undefined if no daemon did the work; the caller then does it. If the daemon dies in the middle, the work may be done twice:
 * an additional checkpoint is better than a missing one.
 */
export async function askDaemon({ request, input, onProgress }: Ask): Promise<Line | undefined> {
  const address = await usableAddress()
  if (address === undefined) return undefined
  const { home, ...target } = address
  let answer: Line | undefined
  const isHook = request.do === 'hook'
  const asked = exchange(target, {
    first: { ...request, home, build: build(), setting: environmentFingerprint(process.env) },
    ...(isHook ? { limitMs: HOOK_LIMIT_MS } : { silenceMs: SILENCE_MS }),
    onLine(line, { send, leave }) {
      if (line['ready'] === true) {
        const read = input?.() ?? Promise.resolve('')
        void read.then((text) => {
          if (text === undefined) return leave()
          for (let at = 0; at < text.length; at += PIECE_CHARS)
            send({ in: text.slice(at, at + PIECE_CHARS) })
          return send({ go: true })
        }, leave)
      } else if ('progress' in line) onProgress?.(line['progress'])
      else if ('answer' in line || 'error' in line) {
        answer = line
        leave()
      }
    },
  })
  // Read stdin while the daemon gets ready. The caller reports an error of reading.
  input?.().catch(() => undefined)
  await asked
  return answer
}

async function usableAddress(): Promise<(Address & { readonly home: string }) | undefined> {
  const home = bypassesDaemon(process.env) ? undefined : storePath()
  const address = home === undefined ? undefined : readAddress(home)
  if (home === undefined || address === undefined || !isOwnSocket(address.socket, home))
    return undefined
  if (address.build === build()) return { ...address, home }
  await replace(address)
  return undefined
}

/** Starts a daemon of this build, which lets the other one finish its work and end. */
async function replace({ startedAt, pid }: Address): Promise<void> {
  const ageMs = Date.now() - Date.parse(startedAt)
  // Two versions used alternately would replace each other forever. A start in the future is old: the clock was set back.
  if (ageMs >= 0 && ageMs < YOUNG_MS) return
  const { isRunning, startInBackground } = await import('./process.js')
  if (isRunning(pid)) startInBackground()
}
