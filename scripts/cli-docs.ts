// Generates docs/reference/cli.md from the command table. A test compares the two.
import { basename, relative } from 'node:path'
import { optionRow } from '../src/cli/args/help.js'
import { COMMON_OPTIONS, type OptionSpec, REFERENCE_HELP } from '../src/cli/args/command-spec.js'
import {
  aliasesOf,
  COMMAND_NAMES,
  type CommandName,
  specOf,
  usageOf,
} from '../src/cli/args/commands-table.js'

export function cliReference(): string {
  return `${[
    '# The command line',
    '',
    '<!-- Made from src/cli/args/commands-table.ts by cliReference(); test/cli/args/cli-docs.test.ts says when it is stale. -->',
    '',
    `    ${usageOf(undefined)}`,
    '',
    'Without a command: the newest checkpoints of the project, and what to do next.',
    '',
    REFERENCE_HELP,
    '',
    'The project is the nearest folder, from the current one up, that was saved before or that is recognizable as a project (it has a `.git`, a `package.json` or similar). `-C DIR` runs the command as if it were started in DIR, as in git.',
    '',
    'In a package of a monorepo whose root was saved before, the root is the project, and a line says so. A package that the root ignores, a repository inside it, and a folder that was saved by itself are projects of their own. To save a package by itself, name it: `savestate -C . save`.',
    '',
    '| command | what it does |',
    '|---|---|',
    ...COMMAND_NAMES.map((name) => `| [\`${name}\`](#${name}) | ${specOf(name).summary} |`),
    '',
    '## Options of every command',
    '',
    ...optionTable(COMMON_OPTIONS),
    '',
    '`savestate --version` (or `-V`) prints the version, with `--json` as `{"version"}`.',
    ...COMMAND_NAMES.flatMap(commandSection),
    '',
    ...CONVENTIONS,
  ].join('\n')}\n`
}

function commandSection(name: CommandName): string[] {
  const { summary, details = [], options = [], examples = [], page } = specOf(name)
  return [
    '',
    `## ${name}`,
    '',
    `    ${usageOf(name)}`,
    '',
    `${summary}.${aliasText(name)}`,
    ...details.flatMap((text) => ['', text]),
    ...(options.length === 0 ? [] : ['', ...optionTable(options)]),
    ...examples.flatMap(([command, what], index) => [
      ...(index === 0 ? ['', 'Examples:', ''] : []),
      `- \`${command}\`: ${what}.`,
    ]),
    ...(page === undefined
      ? []
      : ['', `More: [${basename(page)}](${relative('docs/reference', page)}).`]),
  ]
}

function aliasText(name: CommandName): string {
  const aliases = aliasesOf(name).map((alias) => `\`${alias}\``)
  return aliases.length === 0 ? '' : ` Aliases: ${aliases.join(', ')}.`
}

function optionTable(options: readonly OptionSpec[]): string[] {
  return [
    '| option | what it does |',
    '|---|---|',
    ...options.map(optionRow).map(([forms, summary]) => `| \`${forms}\` | ${summary} |`),
  ]
}

const CONVENTIONS = [
  '## What scripts can rely on',
  '',
  'The result goes to stdout; progress, notes and errors go to stderr. With `--json` the result is JSON, and an error is `{"error":{"code","message","hint"}}` on stderr.',
  '',
  '| exit code | meaning |',
  '|---|---|',
  '| 0 | done |',
  '| 1 | the user said no |',
  '| 2 | failed, or wrong usage |',
  '| 70 | a bug in Savestate |',
  '| 130, 143 | interrupted by Ctrl-C, ended by a signal |',
  '',
  'A command that changes files asks first, on the terminal. Without a terminal it needs `--yes`, or fails with `CONFIRMATION_NEEDED`.',
  '',
  '## Environment',
  '',
  '| variable | meaning |',
  '|---|---|',
  '| `SAVESTATE_HOME` | the folder of the store, as an absolute path; default `~/.savestate` |',
  '| `SAVESTATE_KEY`, `SAVESTATE_KEY_FILE` | the key of an encrypted store, or a file that contains it: see [encryption.md](../guide/encryption.md) |',
  '| `SAVESTATE_NEW_KEY`, `SAVESTATE_NEW_KEY_FILE` | the key that `savestate rekey` changes to |',
  '| `SAVESTATE_NO_DAEMON` | `1`: commands do not use the daemon, and hooks do not start it |',
  '| `SAVESTATE_PAGER`, `GIT_PAGER`, `PAGER` | the pager for a diff on a terminal; default `less`; `cat` or empty for none |',
  '| `NO_COLOR`, `FORCE_COLOR` | no colors, or colors even without a terminal |',
  '| `CLAUDECODE` and the like | set by agents: commands that remove work then need a user (`NEEDS_PERSON`): see [coding-agents.md](../guide/coding-agents.md) |',
]
