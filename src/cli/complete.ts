// Answers the completion scripts: what could stand where the cursor is. Whatever goes wrong, it is silent:
// nobody who presses Tab wants to read an error.
import type { CheckpointView } from '../index.js'
import { SHELLS } from './completion-scripts.js'
import { commandIndex, parse } from './parse.js'
import {
  COMMAND_NAMES,
  type CommandName,
  commandNamed,
  type OptionSpec,
  optionsOf,
  specOf,
} from './table.js'

export type Candidate = readonly [text: string, description: string]
/** The shell knows best how to complete files. */
export type Candidates = readonly Candidate[] | 'files' | 'folders'

/** `words` follow `--`: all after the program's name, the last being the one to complete. */
export async function printCandidates(words: readonly string[]): Promise<void> {
  try {
    const found = await candidates(words[0] === '--' ? words.slice(1) : words)
    const text = typeof found === 'string' ? `:${found}\n` : found.map(lineOf).join('')
    process.stdout.on('error', () => undefined).write(text)
  } catch {
    // See the top of this file.
  }
  process.exitCode = 0
}

export async function candidates(words: readonly string[]): Promise<Candidates> {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const at = commandIndex(before)
  const command = at < before.length ? commandNamed(before[at] ?? '') : undefined
  const specs = optionsOf(command)
  const isAfterDashes = before.includes('--')
  const awaited = isAfterDashes ? undefined : awaitingOption(before.at(-1), specs)
  if (awaited !== undefined) return awaited.completes ?? []
  if (isAfterDashes && command !== undefined && specOf(command).takesPaths === true) return 'files'
  const all =
    current.startsWith('-') && !isAfterDashes
      ? specs.flatMap(optionCandidates)
      : at >= before.length
        ? commandCandidates()
        : await positionalCandidates(command, before)
  return all.filter(([text]) => text.startsWith(current))
}

function awaitingOption(
  word: string | undefined,
  specs: readonly OptionSpec[],
): OptionSpec | undefined {
  return specs.find(
    ({ kind, name, short }) =>
      kind !== 'flag' && (word === `-${short}` || (name.length > 1 && word === `--${name}`)),
  )
}

function optionCandidates({ name, short, summary }: OptionSpec): Candidate[] {
  return [
    ...(name.length > 1 ? [[`--${name}`, summary] as const] : []),
    ...(short === undefined ? [] : [[`-${short}`, summary] as const]),
  ]
}

function commandCandidates(): Candidate[] {
  return COMMAND_NAMES.map((name) => [name, specOf(name).summary])
}

async function positionalCandidates(
  command: CommandName | undefined,
  before: readonly string[],
): Promise<readonly Candidate[]> {
  if (command === undefined) return []
  const { positionals, options } = parse(before)
  switch (specOf(command).positionals?.[positionals.length]?.completes) {
    case 'command':
      return commandCandidates()
    case 'shell':
      return SHELLS.map((shell) => [shell, ''])
    case 'ref':
      return referenceCandidates(options.text('C'))
    case undefined:
      return []
  }
}

async function referenceCandidates(folder: string | undefined): Promise<Candidate[]> {
  const { openStore } = await import('../index.js')
  const store = await openStore({ mayBlock: true })
  try {
    const project = await (folder === undefined
      ? store.projectFor(process.cwd())
      : store.project(folder))
    return await describe((await project.list()).checkpoints)
  } finally {
    await store.close()
  }
}

/** Names first, then numbers, then ids; each newest first. */
async function describe(checkpoints: readonly CheckpointView[]): Promise<Candidate[]> {
  const { printableLine } = await import('./printable.js')
  const { relativeTime } = await import('./relative-time.js')
  const { shortIds } = await import('./short-id.js')
  const ids = shortIds(checkpoints.map(({ id }) => id))
  const now = new Date()
  const described = checkpoints.map((checkpoint, index) => {
    const { id, name, reason, kind, createdAt } = checkpoint
    const what = printableLine([name ?? [], reason ?? kind].flat().join(': ')).slice(0, 60)
    const description = `${relativeTime(createdAt, now)}, ${what}`
    return { id: ids.get(id) ?? id, number: `${index + 1}`, name, description }
  })
  return [
    ...described.flatMap(({ name, description }): Candidate[] =>
      name === null ? [] : [[name, description]],
    ),
    ...described.map(({ number, description }): Candidate => [number, description]),
    ...described.map(({ id, description }): Candidate => [id, description]),
  ]
}

function lineOf([text, description]: Candidate): string {
  return `${text}\t${description}\n`
}
