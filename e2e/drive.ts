// Runs one program of an agent in its own process group, with a time limit, and ends the group by its id.
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sandbox } from './install-folder.js'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** The complete input; without it stdin is closed. */
  readonly input?: string
  /** Keeps stdin open for the caller. */
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
  /** Sends a signal to the agent only, as a crash or a user would. */
  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void
}

/** 100 calls take minutes on a busy machine. */
const LIMIT_MS = 600_000

export function start(sandbox: Sandbox, command: Command): Running {
  const startedAt = performance.now()
  const isTold = command.input !== undefined || command.conversation === true
  const child = spawn(command.program, command.args, {
    cwd: sandbox.project,
    env: { ...sandbox.environment, ...command.environment },
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

/** The pipes may still contain output after the exit event. */
const DRAIN_MS = 20

/** Runs a command to its end; processes in its group end with it. */
export async function run(sandbox: Sandbox, command: Command): Promise<Outcome> {
  const running = start(sandbox, command)
  const outcome = await running.outcome
  endGroup(running.process)
  return outcome
}

export function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // The group is empty.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Waits until a condition is true; the claim is the error message. */
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
