// Starts git isolated from the user's git: no inherited GIT_* variables, no system, global or injected configuration, no hooks,
// no signing, no prompts, no optional locks.
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { hasCode, SavestateError } from '../../model/index.js'
import { childProcess } from '../../system/index.js'

export const OLDEST_GIT = [2, 34] as const

const INHERITED = [
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
const NOWHERE = process.platform === 'win32' ? 'NUL' : '/dev/null'

function gitEnvironment(): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: NOWHERE,
    GIT_CONFIG_GLOBAL: NOWHERE,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    // Never fetch, even if a configuration names a promisor remote.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    // git reads ~/.config/git/attributes even if another configuration is given.
    HOME: NOWHERE,
    XDG_CONFIG_HOME: NOWHERE,
    LC_ALL: 'C',
  }
  for (const name of INHERITED) {
    const value = process.env[name]
    if (value !== undefined) environment[name] = value
  }
  return environment
}

/**
 * `objects`: read this objects folder instead of the repository's own. Git then ignores the repository that they belong to, so
 * nothing in its configuration can make git run or fetch something.
 */
function startGit(
  gitDir: string,
  args: readonly string[],
  objects?: string,
  environment: NodeJS.ProcessEnv = gitEnvironment(),
): ChildProcessWithoutNullStreams {
  const options = [
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'core.fsmonitor=false',
    '-c',
    'core.quotePath=false',
    // Flush refs too before they replace others.
    '-c',
    'core.fsync=reference',
  ]
  const child: ChildProcess = childProcess().spawn(
    'git',
    [`--git-dir=${gitDir}`, ...options, ...args],
    {
      env: {
        ...environment,
        ...(objects === undefined ? {} : { GIT_OBJECT_DIRECTORY: objects }),
      },
      stdio: 'pipe',
      cwd: gitDir,
    },
  )
  if (hasPipes(child)) return child
  // Node emits the error later, when the call has already failed.
  child.on('error', () => undefined)
  const fault = { code: 'EMFILE', syscall: 'spawn git' }
  throw Object.assign(new Error(`${fault.code}: too many open files, ${fault.syscall}`), fault)
}

/** If the process may not open more files, Node creates no pipes, although its types say so. */
function hasPipes(child: ChildProcess): child is ChildProcessWithoutNullStreams {
  return [child.stdin, child.stdout, child.stderr].every((pipe) => pipe instanceof EventEmitter)
}

/**
 * While a request is pending, git must keep the process alive: otherwise the process would exit before it notices that git died.
 * An idle git and its pipes must not keep it alive.
 */
export function setAwaited(child: ChildProcessWithoutNullStreams, isAwaited: boolean): void {
  const pipes = [child.stdin, child.stdout, child.stderr] as unknown as NodeJS.RefCounted[]
  for (const handle of [child, ...pipes]) {
    if (isAwaited) handle.ref()
    else handle.unref()
  }
}

type ServingGit = {
  readonly args: readonly string[]
  readonly objects?: string | undefined
  readonly onData: (chunk: Buffer) => void
  readonly onFail: (error: Error) => void
}

/**
 * Starts a git that answers requests on its stdin for as long as the process lives. Calls `onFail` when git cannot be started
 * or has exited.
 */
export function startServingGit(
  gitDir: string,
  { args, objects, onData, onFail }: ServingGit,
): ChildProcessWithoutNullStreams {
  const child = startGit(gitDir, args, objects)
  // Only the last messages matter: they say why git exited. Git blocks if they are not consumed.
  let complaints = ''
  child.stdout.on('data', onData)
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-MAX_LAST_COMPLAINTS)
  })
  // EPIPE: git has exited, and the `close` event reports why.
  child.stdin.on('error', (error) => {
    if (!hasCode(error, 'EPIPE')) onFail(error)
  })
  child.on('error', (error) => onFail(startFault(error)))
  child.on('close', (status) =>
    onFail(gitFault(args, `it ended with ${status}. ${complaints}`.trimEnd())),
  )
  return child
}

const MAX_LAST_COMPLAINTS = 2000
/** A damaged pack makes git print a line per object. */
const MAX_COMPLAINTS = 64 << 20

type GitRun = {
  readonly status: number | null
  readonly output: Buffer
  readonly complaints: string
}

type GitStreams = {
  readonly input?: Readable
  /** Gets the output, which is then not collected. */
  readonly onOutput?: (chunk: Buffer) => void
  readonly onComplaint?: (text: string) => void
  /** As for `startGit`. */
  readonly objects?: string | undefined
  readonly environment?: NodeJS.ProcessEnv
}

export async function tryGit(
  gitDir: string,
  args: readonly string[],
  { input = Readable.from([]), onOutput, onComplaint, objects, environment }: GitStreams = {},
): Promise<GitRun> {
  const child = startGit(gitDir, args, objects, environment)
  const output: Buffer[] = []
  let complaints = ''
  child.stdout.on('data', onOutput ?? ((chunk: Buffer) => output.push(chunk)))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaints.length < MAX_COMPLAINTS) complaints += text
    onComplaint?.(text)
  })
  // git may exit before its input ends; its exit code says why.
  child.stdin.on('error', (error) => (complaints += `${error.message}\n`))
  const status = await new Promise<number | null>((resolve, reject) => {
    input.on('error', (error) => {
      child.kill()
      reject(error)
    })
    input.pipe(child.stdin)
    child.on('error', (error) => reject(startFault(error)))
    child.on('close', resolve)
  })
  return { status, output: Buffer.concat(output), complaints: complaints.trim() }
}

/** Git's output. Throws GIT_FAILED on any exit code but 0. */
export async function runGit(
  gitDir: string,
  args: readonly string[],
  streams: GitStreams = {},
): Promise<Buffer> {
  const { status, output, complaints } = await tryGit(gitDir, args, streams)
  if (status === 0) return output
  throw gitFault(args, `${status}: ${complaints.slice(0, 500)}`)
}

/**
 * The settings that the user's own git has in this repository, as `key\nvalue\0`; empty if they cannot be read. `git config` only
 * parses files: it starts no program and writes nothing.
 */
export async function readUserSettings(gitDir: string, pattern: string): Promise<Buffer> {
  const {
    GIT_CONFIG_NOSYSTEM: _,
    GIT_CONFIG_SYSTEM: __,
    GIT_CONFIG_GLOBAL: ___,
    ...isolated
  } = gitEnvironment()
  const environment = { ...isolated }
  for (const name of ['HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_NOSYSTEM', 'GIT_CONFIG_GLOBAL']) {
    const value = process.env[name]
    if (value === undefined) delete environment[name]
    else environment[name] = value
  }
  const args = ['config', '--null', '--get-regexp', pattern]
  return (await tryGit(gitDir, args, { environment })).output
}

const LINES_AT_ONCE = 1000

/**
 * Runs git with these lines as input, and calls `take` for each line of its output. File names in them may be any bytes; latin1
 * preserves each of them.
 */
export async function eachLine(
  gitDir: string,
  { args, input }: { readonly args: readonly string[]; readonly input: readonly string[] },
  take: (line: string) => void = () => undefined,
): Promise<void> {
  let rest = ''
  const onOutput = (chunk: Buffer) => {
    const lines = (rest + chunk.toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  }
  await runGit(gitDir, args, { input: Readable.from(blocksOf(input)), onOutput })
}

function* blocksOf(lines: readonly string[]): Iterable<Buffer> {
  for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
    const block = lines.slice(at, at + LINES_AT_ONCE)
    yield Buffer.from(`${block.join('\n')}\n`, 'latin1')
  }
}

// Git reports the reason only as text; with LC_ALL=C it is always one of these.
const NO_SPACE = /No space left on device|Disk quota exceeded|Out of diskspace/

function gitFault(args: readonly string[], what: string): SavestateError {
  if (NO_SPACE.test(what))
    return new SavestateError('DISK_FULL', `The disk has no space left for git ${args[0] ?? ''}`, {
      hint: 'Free some space, then run the command again.',
    })
  return new SavestateError('GIT_FAILED', `git ${args[0] ?? ''} failed: ${what}`, {
    hint: 'Run `savestate verify` to check the store.',
  })
}

function startFault(error: Error): Error {
  if (!hasCode(error, 'ENOENT', 'EACCES')) return error
  return new SavestateError('GIT_MISSING', 'The git program could not be started', {
    hint: `Install git ${OLDEST_GIT.join('.')} or newer and make sure it is on the PATH.`,
    cause: error,
  })
}

/** `folder` must exist. */
export async function gitVersionText(folder: string): Promise<string> {
  const { output } = await tryGit(folder, ['--version'])
  return output.toString('utf8').trim().replace('git version ', '')
}
