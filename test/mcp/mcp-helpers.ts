// Starts the built MCP server, with the official client or a raw pipe as its client.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { PROGRAM, type Scratch } from '../cli/program.js'

export type Mode = 'legacy' | { readonly pin: string }
export type Fields = Readonly<Record<string, unknown>>
export type Answer = {
  readonly text: string
  /** The explanation in `structuredContent`, and the rest of that. */
  readonly message: unknown
  readonly result: Fields
  readonly isError: boolean
}
export type Connected = AsyncDisposable & {
  readonly client: Client
  readonly pid: number
  call(name: string, given?: Record<string, unknown>): Promise<Answer>
  read(uri: string): Promise<{ readonly text: string; readonly mimeType: string | undefined }>
}

export const SWITCH = '--allow-agent-rewind'
export const CLIENT = { name: 'test', version: '1' }

export async function connected(
  s: Scratch,
  args: readonly string[] = [],
  mode: Mode = 'legacy',
): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', ...args],
    cwd: s.project,
    env: { ...s.environment },
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  return {
    client,
    pid: transport.pid ?? -1,
    async call(name, given = {}) {
      const {
        content: parts,
        structuredContent,
        isError,
      } = await client.callTool({
        name,
        arguments: given,
      })
      const [part] = parts
      if (part?.type !== 'text') throw new Error('No text came back')
      const { message, ...result } = (structuredContent ?? {}) as Fields
      return { text: part.text, message, result, isError: isError === true }
    },
    async read(uri) {
      const [part] = (await client.readResource({ uri })).contents
      if (part === undefined || !('text' in part)) throw new Error('No text came back')
      return { text: part.text, mimeType: part.mimeType }
    },
    [Symbol.asyncDispose]: async () => client.close(),
  }
}

/** Without a client, to send what no client would. */
export function raw(s: Scratch, args: readonly string[] = []) {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [PROGRAM, 'mcp', ...args], {
    cwd: s.project,
    env: s.environment,
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.stdout.setEncoding('utf8')
  let rest = ''
  return {
    child,
    ended,
    say(line: unknown) {
      child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
    },
    /** All output on stdout must be JSON. */
    async next(): Promise<unknown> {
      while (!rest.includes('\n')) {
        const chunk: unknown = child.stdout.read()
        if (typeof chunk === 'string') rest += chunk
        else await new Promise((resolve) => child.stdout.once('readable', resolve))
      }
      const end = rest.indexOf('\n')
      const line = rest.slice(0, end)
      rest = rest.slice(end + 1)
      return JSON.parse(line)
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}

export function content(s: Scratch, path: string): string {
  return readFileSync(join(s.project, path), 'utf8')
}
