/** A daemon of the built command line for one store, with functions that request a save or report an event. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { run } from './programs.js'
import { cliPath } from './sdk.js'

export interface RunningDaemon {
  readonly pid: number
  /** Over one persistent connection; returns whether something had changed. */
  save(path: string): Promise<boolean>
  /** The same for a shell command as Claude Code reports it; its end by default. */
  hook(path: string, moment?: ShellEventName): Promise<void>
  /** The end of an agent's session, after which the daemon pushes to remotes with autoPush. */
  endSession(path: string): Promise<void>
}

export type ShellEventName = 'PreToolUse' | 'PostToolUse'

/** Payloads of Claude Code around a shell command. A new start uses a new command. */
export function shellEvent(path: string, moment: ShellEventName): string {
  if (moment === 'PreToolUse' || !isBegun) calls += 1
  isBegun = moment === 'PreToolUse'
  const response = { stdout: 'done\n'.repeat(100), stderr: '', interrupted: false }
  return JSON.stringify({
    session_id: 'bench',
    cwd: path,
    hook_event_name: moment,
    tool_name: 'Bash',
    tool_input: { command: `make ${calls}` },
    ...(moment === 'PostToolUse' ? { tool_response: response } : {}),
    tool_use_id: `call-${calls}`,
  })
}

let isBegun = false

let calls = 0

export async function withDaemon<T>(
  home: string,
  work: (daemon: RunningDaemon) => Promise<T>,
): Promise<T> {
  const command = async (action: string): Promise<string> =>
    run({
      program: process.execPath,
      args: [cliPath, 'daemon', action, ...(action === 'start' ? ['--http'] : []), '--json'],
      cwd: '/',
      environment: { SAVESTATE_HOME: home },
    })
  const { pid, port } = JSON.parse(await command('start')) as { pid: number; port: number }
  const { token } = JSON.parse(readFileSync(join(home, 'daemon', 'http.json'), 'utf8')) as {
    token: string
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const ask = (path: string, body: string) => post({ agent, port, token, path, body })
    return await work({
      pid,
      async save(path) {
        const answer = await ask('/v1/save', JSON.stringify({ path, reason: 'hook' }))
        return (JSON.parse(answer) as { created: boolean }).created
      },
      async hook(path, moment = 'PostToolUse') {
        const answer = await ask(`/v1/hook/claude/${moment}`, shellEvent(path, moment))
        if (answer !== '') throw new Error(`The daemon answered ${answer}`)
      },
      async endSession(path) {
        const event = { session_id: 'bench', cwd: path, hook_event_name: 'SessionEnd' }
        await ask('/v1/hook/claude/SessionEnd', JSON.stringify({ ...event, reason: 'other' }))
      },
    })
  } finally {
    agent.destroy()
    await command('stop')
  }
}

function post({
  agent,
  port,
  token,
  path,
  body,
}: {
  readonly agent: Agent
  readonly port: number
  readonly token: string
  readonly path: string
  readonly body: string
}): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, agent, method: 'POST', path }
    const headers = { authorization: `Bearer ${token}` }
    const asked = request({ ...options, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`The daemon answered ${text}`))
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
