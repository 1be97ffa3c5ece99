// The shape of the command table, and the options that several commands share.

export type OptionSpec = {
  /** A name of one letter has no long form. */
  readonly name: string
  readonly short?: string
  /** Other long names. The value is found under `name`. */
  readonly aliases?: readonly string[]
  readonly kind: 'flag' | 'text' | 'number' | 'texts'
  /** The placeholder for the value in the help. */
  readonly value?: string
  readonly summary: string
  readonly completes?: 'files' | 'folders' | 'session' | 'remote'
  /** The only values it takes. */
  readonly choices?: readonly string[]
  /** For a number. */
  readonly mayBeZero?: boolean
  /** Another option that must be given with it. */
  readonly needs?: string
  /** For an option of kind `text` in a command without positionals. Without a value, its text is empty. */
  readonly isValueOptional?: boolean
}

export type PositionalSpec = {
  readonly name: string
  readonly isOptional?: boolean
  /** May be given more than once. Only the last positional can be repeated. */
  readonly isRepeated?: boolean
  /** `files`: a path, kept to the byte. */
  readonly completes?: 'ref' | 'session' | 'command' | 'files' | 'remote'
  /** Completed only if the first positional is one of these. */
  readonly completesAfter?: readonly string[]
  /** The only values it takes. */
  readonly choices?: readonly string[]
  /** Kept to the byte, as a path is. */
  readonly isRaw?: boolean
  /** Advice for any other value; `words` are the arguments from that value on. */
  readonly otherwise?: (words: readonly string[]) => string
}

export type CommandSpec = {
  /** By default the positionals and the options in their order. */
  readonly usage?: string
  readonly summary: string
  /** One paragraph each. */
  readonly details?: readonly string[]
  readonly positionals?: readonly PositionalSpec[]
  /** Whether paths may follow `--`. */
  readonly takesPaths?: boolean
  /** Whether a command of the system must follow `--`. */
  readonly takesCommand?: boolean
  readonly options?: readonly OptionSpec[]
  /** At most one option of each group may be given. */
  readonly exclusive?: readonly (readonly string[])[]
  /** A page of the documentation that says more. */
  readonly page?: string
  readonly examples?: readonly (readonly [command: string, what: string])[]
}

type More = Partial<Omit<OptionSpec, 'name' | 'kind' | 'value' | 'summary'>>

export function flag(name: string, summary: string, more: More = {}): OptionSpec {
  return { name, kind: 'flag', summary, ...more }
}

/** `form` is the name and the placeholder of the value: `message TEXT`. */
export const text = valueOption('text')
export const texts = valueOption('texts')
export const number = valueOption('number')

function valueOption(kind: OptionSpec['kind']) {
  return (form: string, summary: string, more: More = {}): OptionSpec => {
    const [name = '', value = ''] = form.split(' ')
    return { name, kind, value, summary, ...more }
  }
}

export const COMMON_OPTIONS: readonly OptionSpec[] = [
  text('C DIR', 'Run as if started in DIR', { short: 'C', completes: 'folders' }),
  flag('json', 'Print the result as JSON'),
  flag('help', 'Show this help', { short: 'h' }),
]

export const YES = flag('yes', 'Do not ask first', { short: 'y' })
export const FORCE = flag('force', 'The same as --yes', { short: 'f' })
export const DRY_RUN = flag('dry-run', 'Show the plan, and do nothing')

export const REF: PositionalSpec = { name: '<ref>', completes: 'ref' }

export function limitOption(summary: string): OptionSpec {
  return number('limit N', summary, { short: 'n' })
}

export function sessionOption(summary: string): OptionSpec {
  return text('session ID', summary, { completes: 'session' })
}

/** For commands that work on the store unless this is given. Without NAME, it is the only remote. */
export function onRemoteOption(summary: string): OptionSpec {
  return { ...text('remote [NAME]', summary, { completes: 'remote' }), isValueOptional: true }
}

/** The session to find a reference in, instead of the project. */
export const IN_SESSION: OptionSpec = {
  ...sessionOption('Find the checkpoint in this session; number 1 is then its newest'),
  aliases: ['of'],
}

export function messageOption(summary: string): OptionSpec {
  return text('message TEXT', summary, { short: 'm' })
}

export const REFERENCE_HELP =
  '<ref> is the number of a checkpoint in `savestate list` (1 is the newest), its id, the first 4 or more letters of its id, or its name.'

export const STATE_JSON_HELP =
  'Plain JSON values of a state are printed as they are. Other values (dates, maps, integers too large for a number) are printed as objects with the single key `$`, as in {"$":["Date",1763200000000]}.'
