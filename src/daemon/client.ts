// The caller's end of the Unix socket. Part of every command, so it loads `node:net` and nothing else, and that only
// when a daemon says it is there.
import { readlinkSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import type { Address } from './address.js'
import { type Line, lineOf, lineReader } from './lines.js'

/** After this long a command does its work itself. */
export const PATIENCE_MS = 1500
/** For what has arrived while this process was suspended. */
const LAST_MS = 1000

export type Talk = {
  /** What is said first. */
  readonly first: Line
  readonly onLine: (line: Line, end: OwnEnd) => void
  readonly patienceMs?: number
  /** From one line to the next; for ever if left out. */
  readonly silenceMs?: number
  /** For all of it; none if left out. */
  readonly limitMs?: number
}

export type OwnEnd = {
  readonly say: (line: Line) => void
  /** Everything was heard. */
  readonly leave: () => void
}

/** `silent`: nobody was there, or nobody answered in time. `closed`: the other end has closed the connection. */
export function talk({ socket }: Pick<Address, 'socket'>, of: Talk): Promise<'silent' | 'closed'> {
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
    const say = (line: Line) => void connection.write(lineOf(line))
    const read = lineReader(
      { maxChars: Number.MAX_SAFE_INTEGER },
      {
        line(line) {
          isAnswered = true
          clearTimeout(timer)
          listen()
          of.onLine(line, { say, leave: end })
        },
        fault: end,
      },
    )
    connection.setEncoding('utf8')
    connection.on('data', (text) => read(String(text)))
    // An error is followed by a close, and what it means depends on how far the talk has come.
    connection.on('error', () => undefined)
    connection.on('close', end)
    say(of.first)
  })
}

/** What else decides what a command does or says: who has another one of these is not served. */
export function settingOf(environment: NodeJS.ProcessEnv): string {
  return JSON.stringify([
    process.getuid?.() ?? null,
    process.getegid?.() ?? null,
    process.getgroups?.() ?? null,
    mountsOf(),
    rootOf(),
    environment['TZ'] ?? null,
    gitSettingsIn(environment),
    homedir(),
    tmpdir(),
  ])
}

/** By these git's filters can be set up, which decide what a first save may take from a repository. */
function gitSettingsIn(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(environment)
    .flatMap(([name, value]) =>
      /^(?:XDG_CONFIG_HOME$|GIT_(?:CONFIG|ATTR)_)/.test(name) ? `${name}=${value}` : [],
    )
    .sort()
}

/** Differs in a container, where a path can mean something else. */
function mountsOf(): string | null {
  if (process.platform !== 'linux') return null
  try {
    return readlinkSync('/proc/self/ns/mnt')
  } catch {
    // No /proc: then not for the daemon either.
    return null
  }
}

/** Differs after a chroot, which leaves the mounts as they are. */
function rootOf(): string {
  const { dev, ino } = statSync('/', { bigint: true })
  return `${dev} ${ino}`
}
