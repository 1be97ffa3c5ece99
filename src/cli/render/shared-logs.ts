// The results of sending or receiving sessions, as text.
import type { PulledLog, PushedLog, RemoteHolder } from '../../index.js'
import { printableLine } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import type { Screen } from '../terminal/screen.js'

type Log = PushedLog | PulledLog

/** For sessions that both sides had continued. */
export function forkLines(logs: readonly Pick<Log, 'id' | 'fork'>[]): readonly string[] {
  return logs.flatMap(({ id, fork }) => (fork === null ? [] : [forkText(id, fork)]))
}

export function forkText(session: string, fork: string): string {
  return `Another machine has continued ${printableLine(session)}. Your steps that it did not have are now the session ${printableLine(fork)}; nothing is lost.`
}

export function failureLines(
  logs: readonly Pick<Log, 'kind' | 'id' | 'error'>[],
  { paint }: Pick<Screen, 'paint'>,
): readonly string[] {
  return logs.flatMap(({ kind, id, error }) => {
    if (error === null) return []
    const hint = error.hint === null ? '' : ` ${printableLine(error.hint)}`
    const what = kind === 'project' ? 'Checkpoints without a session' : printableLine(id)
    return [paint('yellow', `${what}: ${printableLine(error.message)}.${hint}`)]
  })
}

/** `laptop (process 12, since 3 min ago)` */
export function holderText(
  { host, pid, since }: RemoteHolder,
  { now }: Pick<Screen, 'now'>,
): string {
  return `${printableLine(host)} (process ${pid}, ${relativeTime(since, now)})`
}
