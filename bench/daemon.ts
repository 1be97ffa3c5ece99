/** A daemon of the built command line for one store, and what it takes to ask it for a save. */
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
}

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
    return await work({ pid, save: (path) => post({ agent, port, token, path }) })
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
}: {
  readonly agent: Agent
  readonly port: number
  readonly token: string
  readonly path: string
}): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, agent, method: 'POST', path: '/v1/save' }
    const headers = { authorization: `Bearer ${token}` }
    const asked = request({ ...options, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('end', () => {
        if (response.statusCode !== 200) return reject(new Error(`The daemon answered ${text}`))
        resolve((JSON.parse(text) as { created: boolean }).created)
      })
    })
    asked.on('error', reject)
    asked.end(JSON.stringify({ path, reason: 'hook' }))
  })
}
