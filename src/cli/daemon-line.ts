// The daemon in one line, for `savestate status`.
import { readAddress } from '../daemon/index.js'
import { isThere } from './daemon-process.js'

/** None if no daemon runs. By the file that it writes, so that nothing is asked and nothing waits. */
export function daemonLines(home: string): readonly string[] {
  const address = readAddress(home)
  if (address === undefined || !isThere(address.pid)) return []
  const listens =
    address.port === null
      ? 'listens on a Unix socket only'
      : `listens on a Unix socket and on TCP port ${address.port} of 127.0.0.1`
  return [`Daemon:       process ${address.pid}, ${listens} (savestate daemon status)`]
}
