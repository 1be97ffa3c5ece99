// One request to opencode's own server, which is started for it on a free port.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, endGroup, start } from '../drive.js'
import { asRecord, type Json } from '../model-server/json.js'
import type { Sandbox } from '../install-folder.js'

const PORT = 47_096
const LIMIT_MS = 30_000
/** The server never answers a request that arrives during its start. */
const PROBE_MS = 500

interface Post {
  readonly program: Command
  readonly path: string
  readonly body: Json
}

export async function postToServer(sandbox: Sandbox, { program, path, body }: Post): Promise<Json> {
  const args = ['serve', '--hostname', '127.0.0.1', '--port', String(PORT)]
  const running = start(sandbox, { ...program, args, input: '' })
  try {
    await healthy()
    const response = await fetch(`http://127.0.0.1:${PORT}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    const value: unknown = JSON.parse(text)
    return asRecord(value)
  } finally {
    endGroup(running.process)
  }
}

async function healthy(): Promise<void> {
  const end = Date.now() + LIMIT_MS
  while (Date.now() < end) {
    const isUp = await fetch(`http://127.0.0.1:${PORT}/global/health`, {
      signal: AbortSignal.timeout(PROBE_MS),
    }).then(
      (response) => response.ok,
      // Not started yet, or silent: retry until the limit.
      () => false,
    )
    if (isUp) return
    await sleep(50)
  }
  throw new Error(`The server of opencode did not come up within ${LIMIT_MS} ms`)
}
