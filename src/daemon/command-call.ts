// A command that somebody wants the daemon to carry out, as it arrives at the socket.
import type { Line } from './lines.js'

export type StreamFacts = {
  readonly isTTY: boolean
  /** Undefined where it is not a terminal. */
  readonly columns: number | undefined
}

export type CommandCall = {
  readonly argv: readonly string[]
  /** Where the person is; absolute. */
  readonly folder: string
  readonly stdout: StreamFacts
  readonly stderr: StreamFacts
  /** Of the variables only those that a command may look at. */
  readonly env: Readonly<Record<string, string>>
}

/** Where its words go, and what it was given on stdin, if it takes that. */
export type CommandVoice = {
  readonly input: string
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

/** Carries out a command and returns its exit code; it never fails. */
export type CommandRun = (voice: CommandVoice) => Promise<number>

/** Undefined: the caller has to do it. Nothing has been done then. */
export type CommandRunner = (call: CommandCall) => Promise<CommandRun | undefined>

/** Undefined for what has another form. */
export function parseCall(line: Line): CommandCall | undefined {
  const { argv, folder, env } = line
  const [stdout, stderr] = [parseStream(line['stdout']), parseStream(line['stderr'])]
  if (!Array.isArray(argv) || !argv.every((text): text is string => typeof text === 'string'))
    return undefined
  if (typeof folder !== 'string' || !folder.startsWith('/')) return undefined
  if (typeof env !== 'object' || env === null) return undefined
  if (stdout === undefined || stderr === undefined) return undefined
  const variables = Object.entries(env).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return { argv, folder, stdout, stderr, env: Object.fromEntries(variables) }
}

function parseStream(value: unknown): StreamFacts | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const facts = new Map<string, unknown>(Object.entries(value))
  const columns = facts.get('columns')
  return {
    isTTY: facts.get('isTTY') === true,
    columns: typeof columns === 'number' ? columns : undefined,
  }
}
