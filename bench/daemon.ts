/** A daemon of the built command line for one store, and what it takes to ask it for a save or tell it of an event. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { run } from './programs.js'
import { cliPath } from './sdk.js'

export interface RunningDaemon {
  readonly pid: number
  /** Over one connection that stays open; whether something had changed. */
  save(path: string): Promise<boolean>
  /** The same, for the end of a shell command as Claude Code tells of it. */
  hook(path: string): Promise<void>
}

/** What Claude Code sends after a shell command. */
export function shellEvent(path: string): string {
  calls += 1
  return JSON.stringify({
    session_id: 'bench',
    cwd: path,
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_input: { command: `make ${calls}` },
    tool_response: { stdout: 'done\n'.repeat(100), stderr: '', interrupted: false },
    tool_use_id: `call-${calls}`,
  })
}

let calls = 0

export async function withDaemon<T>(
  home: string,
  work: (daemon: RunningDaemon) => Promise<T>,
): Promise<T> {
  const command = async (action: string): Promise<string> =>
    run({
      program: process.execPath,
      args: [cliPath, 'daemon', action, '--json'],
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
      async hook(path) {
        const answer = await ask('/v1/hook/claude/PostToolUse', shellEvent(path))
        if (answer !== '') throw new Error(`The daemon answered ${answer}`)
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
