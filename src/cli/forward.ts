// Has the daemon do what was asked, if one is there. Part of every start of the program, so it loads next to nothing.
// Whether a command is really for the daemon, the daemon says: here only what is cheap to see is looked at.
import {
  type Address,
  isOwnSocket,
  type Line,
  readAddress,
  settingOf,
  talk,
} from '../daemon/index.js'
import { agentMark } from './agent-mark.js'
import { currentFolder, homePath } from './home-path.js'
import { hookInput } from './hook-input.js'
import { SERVED_NAMES } from './served-names.js'
import { build } from './version.js'

const SERVED: ReadonlySet<string> = new Set(SERVED_NAMES)
/** What a command may look at when it prints. */
const VARIABLES = ['NO_COLOR', 'FORCE_COLOR', 'TERM']
/** Any other of ours changes what a command does: a key, a place to stop for a test. */
const HARMLESS = new Set(['SAVESTATE_HOME', 'SAVESTATE_PAGER'])
const YOUNG_MS = 60_000
/** Longer than the daemon takes to say that a checkpoint takes too long. */
const HOOK_LIMIT_MS = 15_000
/** A daemon at work says so every few seconds: one that is silent for so long hangs. */
const SILENCE_MS = 60_000
const PIECE_CHARS = 1 << 16
/** Agents read the answer. To look at the streams would take some milliseconds. */
const NO_TERMINAL = { stdout: {}, stderr: {}, env: {} }

/** The exit code; undefined if nothing has been done, and the command is still to be run. */
export async function forward(argv: readonly string[]): Promise<number | undefined> {
  const { env } = process
  const command = commandOf(argv)
  if (!SERVED.has(command) || hasOwnVariable(env)) return undefined
  // An agent may not give a name that the user has given. Only this process knows whether an agent asks.
  if (command === 'save' && agentMark(env) !== undefined) return undefined
  const folder = currentFolder()
  const home = homePath()
  if (folder === undefined || home === undefined) return undefined
  const address = readAddress(home)
  if (address === undefined || !isOwnSocket(address.socket, home)) return undefined
  const own = build()
  if (address.build !== own) {
    await replace(address)
    return undefined
  }
  const first = {
    do: 'run',
    build: own,
    home,
    setting: settingOf(env),
    argv,
    folder,
  }
  if (command === 'hook') return hookCarriedOut(address, { ...first, ...NO_TERMINAL })
  const isJson = argv.includes('--json')
  return carriedOut(address, { first: { ...first, ...terminal() }, isJson })
}

/** What the daemon does not answer is done here: a row too many is better than one that is missing. */
async function hookCarriedOut(address: Address, first: Line): Promise<number | undefined> {
  let code: number | undefined
  const said: (readonly ['stdout' | 'stderr', string])[] = []
  const talked = talk(address, {
    first,
    limitMs: HOOK_LIMIT_MS,
    onLine(line, { say, leave }) {
      const { out, err, exit } = line
      if (line['ready'] === true) {
        void hookInput().then((input) => {
          if (input === undefined) return leave()
          for (let at = 0; at < input.length; at += PIECE_CHARS)
            say({ in: input.slice(at, at + PIECE_CHARS) })
          return say({ go: true })
        }, leave)
      } else if (typeof out === 'string') said.push(['stdout', out])
      else if (typeof err === 'string') said.push(['stderr', err])
      else if (typeof exit === 'number') {
        code = exit
        leave()
      }
    },
  })
  // Read while the daemon gets ready. What keeps us from reading is told by who does the work then.
  hookInput().catch(() => undefined)
  await talked
  // Of a daemon that died over it nothing is told: an agent cannot read two answers, or one and a half.
  if (code !== undefined) for (const [name, text] of said) print(process[name], text)
  return code
}

function print(stream: NodeJS.WriteStream, text: string): void {
  if (stream.listenerCount('error') === 0) watchOutput(stream, { isJson: false })
  stream.write(text)
}

/** From `go` on the work is the daemon's, and is never done a second time here. */
async function carriedOut(
  address: Address,
  { first, isJson }: { readonly first: Line; readonly isJson: boolean },
): Promise<number | undefined> {
  let hasBegun = false
  let code: number | undefined
  await talk(address, {
    first,
    silenceMs: SILENCE_MS,
    onLine(line, { say }) {
      const { out, err, exit } = line
      if (line['ready'] === true) {
        hasBegun = true
        watchSignals(isJson)
        say({ go: true })
      } else if (typeof out === 'string') process.stdout.write(out)
      else if (typeof err === 'string') process.stderr.write(err)
      else if (typeof exit === 'number') code = exit
    },
  })
  if (!hasBegun || code !== undefined) return code
  const { reportLost } = await import('./forward-faults.js')
  return reportLost({ isJson })
}

function watchSignals(isJson: boolean): void {
  const leave = async (signal: 'SIGINT' | 'SIGTERM') => {
    const { reportLeft } = await import('./forward-faults.js')
    reportLeft(signal, { isJson })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void leave(signal))
  for (const stream of [process.stdout, process.stderr]) watchOutput(stream, { isJson })
}

function watchOutput(stream: NodeJS.WriteStream, how: { readonly isJson: boolean }): void {
  stream.on('error', (error) => {
    void import('./forward-faults.js').then((faults) => faults.reportOutput(error, how))
  })
}

/** Of another build: it is to finish what it does and make room, while this command does its own work. */
async function replace({ startedAt, pid }: Address): Promise<void> {
  const ageMs = Date.now() - Date.parse(startedAt)
  // Two versions in turn would replace each other for ever. One of the future is old: the clock was set back.
  if (ageMs >= 0 && ageMs < YOUNG_MS) return
  const { isThere, startInBackground } = await import('./daemon-process.js')
  if (isThere(pid)) startInBackground()
}

/** Empty if the command cannot be forwarded. */
function commandOf(argv: readonly string[]): string {
  let at = 0
  while (argv[at]?.startsWith('-') === true) at += argv[at] === '-C' ? 2 : 1
  // Node has lost bytes of such an argument; see raw-arguments.ts.
  return argv.some((text) => text.includes('\ufffd')) ? '' : (argv[at] ?? '')
}

/** Who has one is not served. */
export function hasOwnVariable(env: NodeJS.ProcessEnv): boolean {
  return Object.keys(env).some((name) => name.startsWith('SAVESTATE_') && !HARMLESS.has(name))
}

function terminal() {
  const { stdout, stderr, env } = process
  const variables = VARIABLES.flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]]],
  )
  return {
    stdout: { isTTY: stdout.isTTY === true, columns: stdout.columns },
    stderr: { isTTY: stderr.isTTY === true, columns: stderr.columns },
    env: Object.fromEntries(variables),
  }
}
