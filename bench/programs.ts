/** Runs programs in an environment without the user's settings, and ends them with this process. */
import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
}

/** The marks of agents: in their shells the daemon could not be stopped. See src/base/agent-marks.ts. */
const AGENTS = /^(CLAUDECODE|CODEX_.*|GEMINI_CLI|OPENCODE|CURSOR_AGENT|CLINE_ACTIVE|AI_AGENT)$/

/** The caller's environment without git's, Savestate's and Node's own switches. */
export function cleanEnvironment(): Record<string, string> {
  const clean: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined || /^(GIT|SAVESTATE)_/i.test(name) || AGENTS.test(name)) continue
    // It makes every start of Node read a certificate bundle, which adds 55 to 70 ms of noise.
    if (name === 'NODE_EXTRA_CA_CERTS' || name === 'NODE_OPTIONS') continue
    clean[name] = value
  }
  return clean
}

/** The output of the program. Throws if its exit code is not 0. */
export function run({ program, args, cwd, environment, input }: Command): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...cleanEnvironment(), ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    track(child)
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(Buffer.concat(out).toString('utf8'))
      const said = Buffer.concat(err).toString('utf8').trim()
      reject(new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}: ${said}`))
    })
    // If a program exits without reading its input, only its exit code counts.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
  })
}

const running = new Set<ChildProcess>()

/** Registers a process for `killPrograms` until it ends. */
export function track(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
  child.once('error', () => running.delete(child))
}

/** For an interrupted run, whose programs must stop writing. */
export function killPrograms(): void {
  for (const child of running) child.kill('SIGKILL')
}
