// Answers the completion scripts: what could stand where the cursor is. Whatever goes wrong, it is silent:
// nobody who presses Tab wants to read an error.
import type { CheckpointView, Store } from '../../index.js'
import { SHELLS } from './completion-scripts.js'
import { enterFolder } from '../start/current-folder.js'
import { commandIndex, type Options, parse } from './parse.js'
import { findProject } from '../runtime/request.js'
import type { OptionSpec } from './command-spec.js'
import {
  aliasesOf,
  COMMAND_NAMES,
  type CommandName,
  commandNamed,
  optionsOf,
  specOf,
} from './commands-table.js'

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
  if (awaited !== undefined) return startingWith(current, await valueCandidates(awaited))
  const [, inline] = /^(--[^=]+=)/.exec(current) ?? []
  if (inline !== undefined && !isAfterDashes) {
    const option = awaitingOption(inline.slice(0, -1), specs)
    const values = option === undefined ? [] : await valueCandidates(option)
    if (typeof values === 'string') return values
    const whole = values.map(([text, what]): Candidate => [inline + text, what])
    return startingWith(current, whole)
  }
  if (isAfterDashes && command !== undefined) {
    const { takesPaths, takesCommand } = specOf(command)
    if (takesPaths === true || takesCommand === true) return 'files'
  }
  const all =
    current.startsWith('-') && !isAfterDashes
      ? specs.flatMap(optionCandidates)
      : at >= before.length
        ? commandCandidates(current)
        : await positionalCandidates(command, { before, current })
  return startingWith(current, all)
}

function startingWith(current: string, all: Candidates): Candidates {
  return typeof all === 'string' ? all : all.filter(([text]) => text.startsWith(current))
}

async function valueCandidates({ completes, choices }: OptionSpec): Promise<Candidates> {
  if (choices !== undefined) return choices.map((choice) => [choice, ''])
  return completes === 'session' ? sessionCandidates() : (completes ?? [])
}

function awaitingOption(
  word: string | undefined,
  specs: readonly OptionSpec[],
): OptionSpec | undefined {
  return specs.find(
    ({ kind, name, short, aliases = [] }) =>
      kind !== 'flag' &&
      (word === `-${short}` ||
        [name, ...aliases].some((long) => long.length > 1 && word === `--${long}`)),
  )
}

function optionCandidates({ name, short, summary }: OptionSpec): Candidate[] {
  return [
    ...(name.length > 1 ? [[`--${name}`, summary] as const] : []),
    ...(short === undefined ? [] : [[`-${short}`, summary] as const]),
  ]
}

/** Aliases only where no command begins like this: each command is offered once. */
function commandCandidates(current: string): Candidate[] {
  const isCommand = COMMAND_NAMES.some((name) => name.startsWith(current))
  return COMMAND_NAMES.flatMap((name) =>
    (isCommand ? [name] : aliasesOf(name)).map((word) => [word, specOf(name).summary] as const),
  )
}

async function positionalCandidates(
  command: CommandName | undefined,
  { before, current }: { readonly before: readonly string[]; readonly current: string },
): Promise<Candidates> {
  if (command === undefined) return []
  const { positionals, options } = parse(before)
  const specs = specOf(command).positionals ?? []
  const last = specs.at(-1)
  const spec = specs[positionals.length] ?? (last?.isRepeated === true ? last : undefined)
  if (spec?.choices !== undefined) return spec.choices.map((choice) => [choice, ''])
  switch (spec?.completes) {
    case 'command':
      return commandCandidates(current)
    case 'shell':
      return SHELLS.map((shell) => [shell, ''])
    case 'ref':
      return referenceCandidates(options)
    case 'session':
      return sessionCandidates()
    case 'files':
      return 'files'
    case undefined:
      return []
  }
}

async function referenceCandidates(options: Options): Promise<Candidate[]> {
  const id = options.text('session')
  return inStore(async (store) => {
    if (id !== undefined) {
      const session = await store.session(id, { create: false, lease: false })
      return describe(store, await session.list())
    }
    const project = await findProject(store, { folder: enterFolder(options) })
    return describe(store, await project.list())
  })
}

async function sessionCandidates(): Promise<Candidate[]> {
  const { printableLine } = await import('../terminal/escape.js')
  const { relativeTime } = await import('../terminal/relative-time.js')
  const now = new Date()
  const sessions = await inStore((store) => store.sessions())
  return sessions
    .filter(({ id }) => isOffered(id))
    .map(({ id, status, interrupted, updatedAt }) => [
      id,
      `${interrupted ? 'interrupted' : printableLine(status)}, ${relativeTime(updatedAt, now)}`,
    ])
}

/** A candidate is one line without a tab. Users type other names themselves, and names that show less than they contain. */
function isOffered(name: string): boolean {
  return !/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(name)
}

async function inStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const { openStore } = await import('../../index.js')
  const store = await openStore({ inProcess: true, shortLived: true })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Names first, then numbers, then ids; each newest first. */
async function describe(
  store: Store,
  checkpoints: readonly CheckpointView[],
): Promise<Candidate[]> {
  const { printableLine } = await import('../terminal/escape.js')
  const { relativeTime } = await import('../terminal/relative-time.js')
  const ids = await store.shortIds(checkpoints.map(({ id }) => id))
  const now = new Date()
  const described = checkpoints.map((checkpoint, index) => {
    const { id, name, reason, kind, createdAt } = checkpoint
    const what = printableLine([name ?? [], reason ?? kind].flat().join(': ')).slice(0, 60)
    const description = `${relativeTime(createdAt, now)}, ${what}`
    return { id: ids.get(id) ?? id, number: `${index + 1}`, name, description }
  })
  return [
    ...described.flatMap(({ name, description }): Candidate[] =>
      name === null || !isOffered(name) ? [] : [[name, description]],
    ),
    ...described.map(({ number, description }): Candidate => [number, description]),
    ...described.map(({ id, description }): Candidate => [id, description]),
  ]
}

function lineOf([text, description]: Candidate): string {
  return `${text}\t${description}\n`
}
