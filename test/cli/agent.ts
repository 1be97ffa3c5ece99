// An agent as users write them: a process of its own that uses the SDK.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Scratch } from './program.js'

const SDK = fileURLToPath(new URL('../../dist/index.js', import.meta.url))

export type Agent = {
  readonly pid: number
  /** kill -9: no cleanup runs. */
  kill(): Promise<void>
}

/** Runs `body`, which can use `sdk`, `store` and `project`, then stays alive until it is killed. */
export async function startAgent(s: Scratch, body: string): Promise<Agent> {
  const child = spawnAgent(s, `${body}\nconsole.log('ready'); setInterval(() => {}, 1000)`)
  let errors = ''
  child.stderr.on('data', (text) => (errors += String(text)))
  const said = await Promise.race([once(child.stdout, 'data'), once(child, 'close')])
  if (String(said[0]) !== 'ready\n') throw new Error(`The agent did not get ready: ${errors}`)
  return {
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}

/** Runs `body` to its end, with the store closed. */
export async function runAgent(s: Scratch, body: string): Promise<void> {
  const child = spawnAgent(s, `${body}\nawait store.close()`)
  let errors = ''
  child.stderr.on('data', (text) => (errors += String(text)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`The agent ended with ${String(code)}: ${errors}`)
}

function spawnAgent(s: Scratch, body: string) {
  const script = `
    const sdk = await import(${JSON.stringify(SDK)})
    const store = await sdk.openStore({ durability: 'process' })
    const project = await store.project(${JSON.stringify(s.project)})
    ${body}`
  return spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: s.project,
    env: { ...s.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
