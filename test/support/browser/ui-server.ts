// Starts the real `savestate ui` and waits until it listens.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { createInterface } from 'node:readline'

export type UiServer = AsyncDisposable & {
  /** With the token in the fragment. */
  readonly url: string
  readonly origin: string
  /** From the start of the process to its first line. */
  readonly listeningMs: number
  /** Returns the exit code. Does nothing the second time. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export type UiCommand = {
  readonly program: string
  readonly project: string
  readonly environment: Readonly<Record<string, string>>
  readonly args?: readonly string[]
}

export async function startUi({
  program,
  project,
  environment,
  args = [],
}: UiCommand): Promise<UiServer> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [program, 'ui', '--json', '--no-open', ...args], {
    cwd: project,
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (text) => (errors += String(text)))
  const closed = once(child, 'close')
  const lines = createInterface(child.stdout)
  const first: unknown[] = await Promise.race([once(lines, 'line'), closed])
  if (typeof first[0] !== 'string') throw new Error(`savestate ui did not start: ${errors}`)
  const listeningMs = performance.now() - startedAt
  const { url } = JSON.parse(first[0]) as { readonly url: string }
  const stop: UiServer['stop'] = async (signal = 'SIGTERM') => {
    child.kill(signal)
    const [code] = (await closed) as [number | null]
    return code
  }
  return {
    url,
    origin: new URL(url).origin,
    listeningMs,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  }
}
