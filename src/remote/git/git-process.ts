// Runs git for a remote: on the driver's own copy with a clean environment, and against the server with as much of the user's
// environment and configuration as SSH, HTTPS and credential helpers need (README.md).
import type { ChildProcess } from 'node:child_process'
import process from 'node:process'
import { Readable } from 'node:stream'
import { hasCode } from '../../base/index.js'
import { SavestateError } from '../../model/index.js'
import { childProcess } from '../../system/index.js'
import type { GitTarget } from './git-url.js'

const SYSTEM = [
  'PATH',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SYSTEMROOT',
  'PATHEXT',
  'COMSPEC',
]

/** They lead to keys, agents, credential helpers, proxies and certificates. */
const USER = [
  'HOME',
  'USER',
  'LOGNAME',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'USERPROFILE',
  'HOMEDRIVE',
  'HOMEPATH',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'GIT_CONFIG_GLOBAL',
  'GNUPGHOME',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'http_proxy',
  'https_proxy',
  'HTTPS_PROXY',
  'all_proxy',
  'ALL_PROXY',
  'no_proxy',
  'NO_PROXY',
]

const NOWHERE = process.platform === 'win32' ? 'NUL' : '/dev/null'
const NO_CONFIG = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: NOWHERE,
  GIT_CONFIG_GLOBAL: NOWHERE,
  GIT_ATTR_NOSYSTEM: '1',
  HOME: NOWHERE,
  XDG_CONFIG_HOME: NOWHERE,
  GIT_ALLOW_PROTOCOL: 'none',
}

/** They replace settings of the user: no program of theirs runs but those that reach the server. */
const ALWAYS = {
  'core.hooksPath': NOWHERE,
  'core.fsmonitor': 'false',
  'core.logAllRefUpdates': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  // Segments and chunks are compressed already: more effort, or a search for deltas, gains nothing.
  'core.looseCompression': '1',
  'pack.compression': '0',
  'core.bigFileThreshold': '256k',
}
const FOR_SERVER = {
  'fetch.recurseSubmodules': 'false',
  'fetch.fsckObjects': 'true',
  'fetch.writeCommitGraph': 'false',
  'push.followTags': 'false',
  'push.gpgSign': 'false',
  'push.recurseSubmodules': 'no',
  'submodule.recurse': 'false',
  'http.lowSpeedLimit': '1',
  // The server of a redirect would get the credentials and the data.
  'http.followRedirects': 'initial',
}

/** A shell function, because git adds the name of the operation as an argument. */
const HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$SAVESTATE_REMOTE_USER" "$SAVESTATE_REMOTE_PASSWORD"; }; f'

export type GitRun = {
  readonly status: number | null
  readonly output: Buffer
  readonly complaints: string
  /** It was ended because nothing had arrived for `stallMs`. */
  readonly isStalled: boolean
}

export type GitCall = {
  readonly gitDir: string
  readonly args: readonly string[]
  readonly input?: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>
}

/** On the driver's copy. Throws GIT_FAILED. */
export async function runGit(call: GitCall): Promise<Buffer> {
  const environment = { ...inherit(SYSTEM), ...NO_CONFIG, ...configure(Object.entries(ALWAYS)) }
  const { status, output, complaints } = await run(call, { environment, stallMs: undefined })
  if (status === 0) return output
  if (isDiskFull(complaints)) throw diskFull()
  throw new SavestateError(
    'GIT_FAILED',
    `git ${call.args[0] ?? ''} failed: ${status}: ${complaints.slice(0, 500)}`,
    { hint: 'If it stays, remove the folder `remotes` in the store: it has copies only.' },
  )
}

/** Against the server. `origin` is its name. */
export function askServer(
  call: GitCall,
  { target, stallMs }: { readonly target: GitTarget; readonly stallMs: number },
): Promise<GitRun> {
  const { url, credentials } = target
  const settings: [string, string][] = [
    ...Object.entries({ ...ALWAYS, ...FOR_SERVER }),
    ['http.lowSpeedTime', String(Math.ceil(stallMs / 1000))],
    ['remote.origin.url', url],
    // An empty helper removes those of the user's configuration.
    ...(credentials === null
      ? []
      : ([
          ['credential.helper', ''],
          ['credential.helper', HELPER],
        ] as [string, string][])),
  ]
  const environment = {
    ...inherit(SYSTEM),
    ...inherit(USER),
    GIT_ALLOW_PROTOCOL: 'file:git:ssh:http:https',
    ...(credentials === null
      ? {}
      : {
          SAVESTATE_REMOTE_USER: credentials.username,
          SAVESTATE_REMOTE_PASSWORD: credentials.password,
        }),
    ...configure(settings),
  }
  return run(call, { environment, stallMs })
}

function run(
  { gitDir, args, input = [] }: GitCall,
  options: { readonly environment: NodeJS.ProcessEnv; readonly stallMs: number | undefined },
): Promise<GitRun> {
  const { environment, stallMs } = options
  const child = childProcess().spawn('git', [`--git-dir=${gitDir}`, ...args], {
    cwd: gitDir,
    env: {
      ...environment,
      GIT_TERMINAL_PROMPT: '0',
      // Otherwise git may open a window to ask for a password.
      GIT_ASKPASS: '',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_NO_LAZY_FETCH: '1',
      LC_ALL: 'C',
    },
    stdio: 'pipe',
  })
  const output: Buffer[] = []
  let outputBytes = 0
  let complaints = ''
  let isStalled = false
  const stop = () => {
    isStalled = true
    child.kill()
  }
  const timer = stallMs === undefined ? undefined : setTimeout(stop, stallMs)
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-MAX_COMPLAINTS)
    timer?.refresh()
  })
  return new Promise<GitRun>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      timer?.refresh()
      outputBytes += chunk.length
      if (outputBytes <= MAX_OUTPUT_BYTES) output.push(chunk)
      else {
        child.kill()
        reject(tooLong(args))
      }
    })
    const source = Readable.from(input)
    source.on('error', (error) => {
      child.kill()
      reject(error)
    })
    // git may exit before its input ends; its exit code says why.
    child.stdin.on('error', (error) => (complaints += `${error.message}\n`))
    source.pipe(child.stdin)
    child.on('error', (error) => reject(startFault(error)))
    child.on('close', (status) =>
      resolve({ status, output: Buffer.concat(output), complaints: complaints.trim(), isStalled }),
    )
  }).finally(() => {
    clearTimeout(timer)
    endIfRunning(child)
  })
}

const MAX_COMPLAINTS = 1 << 20
/** Larger than a segment, and than the list of a million refs. Trees that contain each other many times have a list without end. */
const MAX_OUTPUT_BYTES = 128 << 20

function endIfRunning(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) child.kill()
}

function inherit(names: readonly string[]): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {}
  for (const name of names) {
    const value = process.env[name]
    if (value !== undefined) environment[name] = value
  }
  return environment
}

/** Settings in the environment: arguments would show them to other users of the machine. */
function configure(settings: readonly (readonly [name: string, value: string])[]) {
  const environment: NodeJS.ProcessEnv = { GIT_CONFIG_COUNT: String(settings.length) }
  for (const [index, [name, value]] of settings.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = name
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return environment
}

export function isDiskFull(complaints: string): boolean {
  const local = complaints.split('\n').filter((line) => !line.startsWith('remote:'))
  return /No space left on device|Disk quota exceeded|Out of diskspace/.test(local.join('\n'))
}

export function diskFull(): SavestateError {
  return new SavestateError('DISK_FULL', 'The disk has no space left for git', {
    hint: 'Free some space, then run the command again.',
  })
}

function tooLong(args: readonly string[]): SavestateError {
  return new SavestateError(
    'STORE_DAMAGED',
    `Data of the remote is damaged: the answer to git ${args[0] ?? ''} has no end`,
    { hint: 'Run `savestate verify --remote`.' },
  )
}

function startFault(error: Error): Error {
  if (!hasCode(error, 'ENOENT', 'EACCES')) return error
  return new SavestateError('GIT_MISSING', 'The git program could not be started', {
    hint: 'Install git 2.34 or newer and make sure it is on the PATH.',
    cause: error,
  })
}
