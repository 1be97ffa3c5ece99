// Runs one program of an agent: a process group of its own, a time limit, and the end of the group by its id.
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Place } from './install-folder.js'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Given as a whole; without it the program finds its input closed. */
  readonly input?: string
  /** The input stays open for whoever started the program. */
  readonly conversation?: boolean
}

export interface Outcome {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly tookMs: number
}

export interface Running {
  readonly process: ChildProcess
  readonly outcome: Promise<Outcome>
  /** A signal for the agent alone, as a crash or a person would send it. */
  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void
}

/** A row of 100 calls takes minutes on a busy machine. */
const LIMIT_MS = 600_000

export function start(place: Place, command: Command): Running {
  const startedAt = performance.now()
  const isTold = command.input !== undefined || command.conversation === true
  const child = spawn(command.program, command.args, {
    cwd: place.project,
    env: { ...place.environment, ...command.environment },
    stdio: [isTold ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: true,
  })
  if (command.conversation !== true) child.stdin?.end(command.input)
  const timer = setTimeout(() => endGroup(child), LIMIT_MS)
  const out = collect(child.stdout)
  const err = collect(child.stderr)
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject)
    // Not 'close': a command that outlives its agent may keep the pipes open.
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      const tookMs = performance.now() - startedAt
      setTimeout(() => {
        resolve({ code, signal, stdout: out.join(''), stderr: err.join(''), tookMs })
      }, DRAIN_MS)
    })
  })
  return {
    process: child,
    outcome,
    signal: (name) => void child.kill(name),
  }
}

/** The pipes may hold a last word when the exit is heard of. */
const DRAIN_MS = 20

/** Runs a command to its end; whatever it started in its group ends with it. */
export async function run(place: Place, command: Command): Promise<Outcome> {
  const running = start(place, command)
  const outcome = await running.outcome
  endGroup(running.process)
  return outcome
}

export function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // Nobody is left in it.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Waits until something is true; the claim is what the error says. */
export async function until(claim: string, isTrue: () => boolean): Promise<void> {
  const end = Date.now() + LIMIT_MS
  while (!isTrue()) {
    if (Date.now() > end) throw new Error(`Not within ${LIMIT_MS} ms: ${claim}`)
    await sleep(10)
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

function collect(stream: NodeJS.ReadableStream | null): string[] {
  const chunks: string[] = []
  stream?.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
  return chunks
}
