// A daemon that has its place and does not answer: how that is told, and what to do.
import { SavestateError } from '../index.js'

type Holder = { readonly pid: number | null }

export function unresponsive({ pid }: Holder): SavestateError {
  const who = pid === null ? 'The daemon' : `The daemon, process ${pid},`
  return new SavestateError('DAEMON_FAILED', `${who} does not answer`, { hint: howToEnd(pid) })
}

/** Nothing is lost by a kill: the store is whole at every moment. */
export function howToEnd(pid: number | null): string {
  const commands = 'Commands work without it.'
  return pid === null ? commands : `${commands} If it does not recover, end it with: kill -9 ${pid}`
}
