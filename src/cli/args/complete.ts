// Answers the completion scripts: the candidates for the word at the cursor. Errors are dropped, because a user who
// presses Tab does not want to read one.
import type { CheckpointView, Store } from '../../index.js'
import { enterFolder } from '../start/current-folder.js'
import { commandIndex, type Options, parse } from './parse.js'
import { findProject } from '../runtime/request.js'
import type { OptionSpec, PositionalSpec } from './command-spec.js'
import { aliasesOf, COMMAND_NAMES, findCommand, optionsOf, specOf } from './commands-table.js'

export type Candidate = readonly [text: string, description: string]
/** For files and folders the shell completes by itself. */
export type Candidates = readonly Candidate[] | 'files' | 'folders'

/** `words` are all words after the program's name; the last one is to be completed. */
export async function printCandidates(words: readonly string[]): Promise<void> {
  try {
    const found = await candidates(words[0] === '--' ? words.slice(1) : words)
    const text =
      typeof found === 'string' ? `:${found}\n` : found.map((one) => `${one.join('\t')}\n`).join('')
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
  const command = at < before.length ? findCommand(before[at] ?? '') : undefined
  const { takesPaths, takesCommand, positionals: expected = [] } = specOf(command)
  const { positionals, options } = parse(before)
  if (before.includes('--')) {
    if (takesPaths === true || takesCommand === true) return 'files'
  } else {
    const specs = optionsOf(command)
    const awaited = findAwaitingOption(before.at(-1), specs)
    if (awaited !== undefined)
      return filterByPrefix(current, await valueCandidates(awaited, options))
    const [, inline] = /^(--[^=]+=)/.exec(current) ?? []
    if (inline !== undefined) {
      const option = findAwaitingOption(inline.slice(0, -1), specs)
      const values = await valueCandidates(option, options)
      if (typeof values === 'string') return values
      const whole = values.map(([text, what]): Candidate => [inline + text, what])
      return filterByPrefix(current, whole)
    }
    if (current.startsWith('-')) return filterByPrefix(current, specs.flatMap(optionCandidates))
  }
  if (at >= before.length) return commandCandidates(current)
  const last = expected.at(-1)
  const next = expected[positionals.length] ?? (last?.isRepeated === true ? last : undefined)
  if (next?.completes === 'command') return commandCandidates(current)
  if (next?.completesAfter?.includes(positionals[0] ?? '') === false) return []
  return filterByPrefix(current, await valueCandidates(next, options))
}

function filterByPrefix(current: string, all: Candidates): Candidates {
  return typeof all === 'string' ? all : all.filter(([text]) => text.startsWith(current))
}

/** The values of an option or a positional argument. */
async function valueCandidates(
  spec: Pick<OptionSpec | PositionalSpec, 'choices' | 'completes'> | undefined,
  options: Options,
): Promise<Candidates> {
  if (spec?.choices !== undefined) return spec.choices.map((choice) => [choice, ''])
  const completes = spec?.completes
  if (completes === 'files' || completes === 'folders') return completes
  if (completes === 'ref') return referenceCandidates(options)
  if (completes === 'remote') return remoteCandidates()
  return completes === 'session' ? sessionCandidates() : []
}

function findAwaitingOption(
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
  const forms = [name.length > 1 ? `--${name}` : [], short === undefined ? [] : `-${short}`].flat()
  return forms.map((form) => [form, summary])
}

/** Each command is offered once: its aliases only if no command name starts like this. */
function commandCandidates(current: string): Candidate[] {
  const isCommand = COMMAND_NAMES.some((name) => name.startsWith(current))
  const all = COMMAND_NAMES.flatMap((name) =>
    (isCommand ? [name] : aliasesOf(name)).map((word): Candidate => [word, specOf(name).summary]),
  )
  return all.filter(([word]) => word.startsWith(current))
}

async function referenceCandidates(options: Options): Promise<Candidate[]> {
  const id = options.text('session')
  return inStore(async (store) => {
    const from =
      id === undefined
        ? await findProject(store, { folder: enterFolder(options) })
        : await store.session(id, { create: false, lease: false })
    return describe(store, await from.list())
  })
}

async function sessionCandidates(): Promise<Candidate[]> {
  const { printableLine, relativeTime, now } = await loadText()
  const sessions = await inStore((store) => store.sessions())
  return sessions
    .filter(({ id }) => isOffered(id))
    .map(({ id, status, interrupted, updatedAt }) => [
      id,
      `${interrupted ? 'interrupted' : printableLine(status)}, ${relativeTime(updatedAt, now)}`,
    ])
}

/** Contacts none of them. */
async function remoteCandidates(): Promise<Candidate[]> {
  const { printableLine } = await loadText()
  const remotes = await inStore((store) => store.remotes.list())
  return remotes.map(({ name, label }) => [name, printableLine(label)])
}

/** A candidate is one line without a tab. Names with invisible characters are not offered either. */
function isOffered(name: string): boolean {
  return !/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(name)
}

async function loadText() {
  const { printableLine } = await import('../terminal/escape.js')
  const { relativeTime } = await import('../terminal/relative-time.js')
  return { printableLine, relativeTime, now: new Date() }
}

async function inStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const { openStore } = await import('../../index.js')
  const store = await openStore({ inProcess: true, shortLived: true, remote: false })
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
  const { printableLine, relativeTime, now } = await loadText()
  const ids = await store.shortIds(checkpoints.map(({ id }) => id))
  const described = checkpoints.map(({ id, name, reason, kind, createdAt }, index) => {
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
