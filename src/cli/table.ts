// Every command as data: what it takes and what it says of itself. Parsing, help, completion and
// docs/cli.md all come from here.

export type OptionSpec = {
  /** A name of one letter has no long form. */
  readonly name: string
  readonly short?: string
  readonly kind: 'flag' | 'text' | 'number' | 'texts'
  /** What stands for the value in the help. */
  readonly value?: string
  readonly summary: string
  readonly completes?: 'files' | 'folders'
}

export type PositionalSpec = {
  readonly name: string
  readonly isOptional?: boolean
  readonly completes?: 'ref' | 'command' | 'shell'
}

export type CommandSpec = {
  readonly usage: string
  readonly summary: string
  /** One paragraph each. */
  readonly details?: readonly string[]
  readonly positionals?: readonly PositionalSpec[]
  /** Whether paths may follow `--`. */
  readonly takesPaths?: boolean
  readonly options?: readonly OptionSpec[]
  readonly examples?: readonly (readonly [command: string, what: string])[]
}

export const COMMON_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'C',
    short: 'C',
    kind: 'text',
    value: 'DIR',
    summary: 'Work on the project in DIR; paths are then relative to it',
    completes: 'folders',
  },
  { name: 'json', kind: 'flag', summary: 'Print the result as JSON' },
  { name: 'help', short: 'h', kind: 'flag', summary: 'Show this help' },
]

const YES: OptionSpec = { name: 'yes', short: 'y', kind: 'flag', summary: 'Do not ask first' }
const DRY_RUN: OptionSpec = {
  name: 'dry-run',
  kind: 'flag',
  summary: 'Show what would be done, and do nothing',
}
const REF: PositionalSpec = { name: '<ref>', completes: 'ref' }
const limit = (summary: string): OptionSpec => ({
  name: 'limit',
  kind: 'number',
  value: 'N',
  summary,
})

export const REFERENCE_HELP =
  'A checkpoint is named by its number in `savestate list` (1 is the newest), its id, the first 4 or more letters of its id, or its name.'

const PATH_HELP =
  'Paths are relative to the current folder, or to DIR with `-C DIR`. A path in double quotes, as Savestate prints names with odd characters, is read as such; write ./ in front of a name that really begins with a quote.'

export const COMMANDS = {
  save: {
    usage: 'save [-m REASON] [--name NAME]',
    summary: 'Save what the folder holds',
    details: [
      'Makes a checkpoint of the project, unless nothing has changed since the newest one.',
    ],
    options: [
      { name: 'm', short: 'm', kind: 'text', value: 'REASON', summary: 'Say why' },
      { name: 'name', kind: 'text', value: 'NAME', summary: 'Give the checkpoint a name' },
    ],
    examples: [
      ['savestate save -m "before the big refactoring"', 'Save, and say why'],
      ['savestate save --name works', 'Save under a name to go back to'],
    ],
  },
  list: {
    usage: 'list [--all] [--limit N]',
    summary: 'List the checkpoints, newest first',
    options: [
      { name: 'all', kind: 'flag', summary: 'Of all projects' },
      limit('At most N of them (default 20; with --json all)'),
    ],
  },
  show: {
    usage: 'show <ref>',
    summary: 'Show one checkpoint in full',
    details: [
      'What changed since the checkpoint before, what was left out and why, and how to get its files back with git alone.',
    ],
    positionals: [REF],
  },
  diff: {
    usage: 'diff <ref> [<ref>] [--stat] [-- PATH…]',
    summary: 'Show what changed since a checkpoint, or between two',
    details: ['With one checkpoint: from it to the folder as it is now.', PATH_HELP],
    positionals: [REF, { ...REF, name: '[<ref>]', isOptional: true }],
    takesPaths: true,
    options: [{ name: 'stat', kind: 'flag', summary: 'Only how much changed in each file' }],
    examples: [
      ['savestate diff 1', 'What changed since the newest checkpoint'],
      ['savestate diff 2 1 --stat', 'How much changed between the last two'],
      ['savestate diff works -- src', 'What changed in src since the one named works'],
    ],
  },
  rewind: {
    usage: 'rewind <ref> [--files] [--path P]… [--dry-run] [-y]',
    summary: 'Bring the folder back to a checkpoint',
    details: [
      'What is there now is saved first, so that `savestate undo` can bring it back. Files that were not captured (ignored, too large) are never overwritten or removed.',
      PATH_HELP,
    ],
    positionals: [REF],
    options: [
      { name: 'files', kind: 'flag', summary: 'Bring back the files (this is the default)' },
      {
        name: 'path',
        kind: 'texts',
        value: 'P',
        summary: 'Only this file or folder; may be given more than once',
        completes: 'files',
      },
      DRY_RUN,
      YES,
    ],
    examples: [
      ['savestate rewind 1', 'Go back to the newest checkpoint'],
      ['savestate rewind works --path src/app.ts', 'Bring back one file'],
      ['savestate rewind 3 --dry-run', 'See what would happen'],
    ],
  },
  undo: {
    usage: 'undo [--dry-run] [-y]',
    summary: 'Take back the last rewind',
    options: [DRY_RUN, YES],
  },
  redo: {
    usage: 'redo [--dry-run] [-y]',
    summary: 'Do the last undone rewind again',
    options: [DRY_RUN, YES],
  },
  pin: {
    usage: 'pin <ref>',
    summary: 'Keep a checkpoint whatever the limits say',
    positionals: [REF],
  },
  unpin: {
    usage: 'unpin <ref>',
    summary: 'Let the limits apply to a checkpoint again',
    positionals: [REF],
  },
  name: {
    usage: 'name <ref> NAME',
    summary: 'Give a checkpoint a name',
    positionals: [REF, { name: 'NAME' }],
  },
  status: {
    usage: 'status [--limit N]',
    summary: 'Show the store: its size and its projects',
    options: [limit('At most N projects (default 20; with --json all)')],
  },
  verify: {
    usage: 'verify',
    summary: 'Check that the store is whole',
    details: ['Ends with exit code 2 if it is not.'],
  },
  completion: {
    usage: 'completion bash|zsh|fish',
    summary: 'Print a script that completes commands and checkpoints in your shell',
    positionals: [{ name: 'bash|zsh|fish', completes: 'shell' }],
    examples: [
      ['source <(savestate completion bash)', 'In ~/.bashrc'],
      ['source <(savestate completion zsh)', 'In ~/.zshrc, after compinit'],
      ['savestate completion fish | source', 'In ~/.config/fish/config.fish'],
    ],
  },
  help: {
    usage: 'help [command]',
    summary: 'Show help for all or one of the commands',
    positionals: [{ name: '[command]', isOptional: true, completes: 'command' }],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>

export type CommandName = keyof typeof COMMANDS

export const COMMAND_NAMES: readonly CommandName[] = [
  'save',
  'list',
  'show',
  'diff',
  'rewind',
  'undo',
  'redo',
  'pin',
  'unpin',
  'name',
  'status',
  'verify',
  'completion',
  'help',
]

export function commandNamed(text: string): CommandName | undefined {
  return COMMAND_NAMES.find((name) => name === text)
}

export function specOf(name: CommandName): CommandSpec {
  return COMMANDS[name]
}

/** The command's own options, then those that every command takes. */
export function optionsOf(name: CommandName | undefined): readonly OptionSpec[] {
  return [...(name === undefined ? [] : (specOf(name).options ?? [])), ...COMMON_OPTIONS]
}

export function usageOf(name: CommandName | undefined): string {
  return `savestate ${name === undefined ? '[-C DIR] <command> [options]' : specOf(name).usage}`
}
