// One question to Codex's own server, which speaks JSON-RPC by lines on its standard input and output.
import { createInterface } from 'node:readline'
import { type Command, endGroup, start } from '../drive.js'
import { asRecord, type Json } from '../model-server/json.js'
import type { Sandbox } from '../install-folder.js'

interface Question {
  readonly server: Command
  readonly method: string
  readonly params: Json
}

/** The result. Throws the error that the server answers. */
export async function askAppServer(
  sandbox: Sandbox,
  { server, method, params }: Question,
): Promise<Json> {
  const clientInfo = { name: 'savestate-agents', title: null, version: '0' }
  const running = start(sandbox, { ...server, conversation: true })
  try {
    const { stdin, stdout } = running.process
    if (stdin === null || stdout === null) throw new Error('The server has no pipes')
    const tell = (message: Json): void => void stdin.write(`${JSON.stringify(message)}\n`)
    tell({
      id: 1,
      method: 'initialize',
      params: { clientInfo, capabilities: { experimentalApi: true } },
    })
    for await (const line of createInterface({ input: stdout })) {
      const parsed: unknown = JSON.parse(line)
      const message = asRecord(parsed)
      if (message['error'] !== undefined) throw new Error(`${method}: ${line}`)
      if (message['id'] === 1) {
        tell({ method: 'initialized' })
        tell({ id: 2, method, params })
      }
      if (message['id'] === 2) return asRecord(message['result'])
    }
    throw new Error(`The server ended before it answered ${method}`)
  } finally {
    endGroup(running.process)
  }
}
