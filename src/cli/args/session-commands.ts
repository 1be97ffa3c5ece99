// The commands for sessions of agents.
import {
  type CommandSpec,
  DRY_RUN,
  flag,
  IN_SESSION,
  limitOption,
  number,
  REF,
  sessionOption,
  STATE_JSON_HELP,
  text,
  YES,
} from './command-spec.js'

export const STATUSES = ['in_progress', 'completed', 'failed', 'halted'] as const
/** Not a status of its own, but `sessions` prints it as one. */
export const INTERRUPTED = 'interrupted'
export const EXPORT_FORMATS = ['json', 'yaml'] as const
/** exchange/import-file.ts reads them. */
export const IMPORT_KINDS = ['json', 'yaml'] as const
/** The same as IMPORT_SYSTEMS of the SDK, which is not loaded to parse arguments. */
export const IMPORT_SYSTEM_KINDS = ['hermes', 'ares', 'breakpilot'] as const

export const SESSION_COMMANDS = {
  sessions: {
    usage: 'sessions [--here] [--interrupted] [--status S] [--limit N]',
    summary: 'List the sessions of all projects, most recent first',
    details: [
      'A session is interrupted if it is in progress and no process is working on it: its process died, or left it before it was finished.',
    ],
    options: [
      flag('here', 'Only those of the current project'),
      flag('interrupted', 'The same as --status interrupted'),
      text('status S', `Only those with this status: ${[...STATUSES, INTERRUPTED].join(', ')}`, {
        choices: [...STATUSES, INTERRUPTED],
      }),
      limitOption('Show at most N (default 20; with --json all)'),
    ],
    exclusive: [['interrupted', 'status']],
  },
  resume: {
    usage: 'resume <session> [--max-chars N]',
    summary: 'Print what an agent needs to continue a session',
    details: [
      'Finishes interrupted work, then prints a text for the model: what is uncertain, what changed in the folder, what was done. Fails with SESSION_BUSY while a live process is writing the session.',
      `With --json it prints the state too, and everything else as data. ${STATE_JSON_HELP}`,
    ],
    positionals: [{ name: '<session>', completes: 'session' }],
    options: [
      number('max-chars N', 'At most N characters, the most important first (default 4000)'),
    ],
    examples: [
      ['savestate sessions --interrupted', 'Find what was interrupted'],
      ['savestate resume fix-login', 'See what the next agent gets'],
      ['savestate resume fix-login --json', 'The same with the state, for a program'],
    ],
  },
  fork: {
    usage: 'fork <ref> [--as NEW-ID] [--session ID]',
    summary: 'Start a new session at a checkpoint',
    details: [
      'The first checkpoint of the new session has the state and the files of that checkpoint. The old session and the folder stay as they are.',
    ],
    positionals: [REF],
    options: [
      text('as NEW-ID', 'The id of the new session (default: the old id with -fork-1, -fork-2 …)'),
      IN_SESSION,
    ],
    examples: [
      ['savestate fork 3', 'Try something else from the third newest checkpoint'],
      ['savestate fork 1 --session fix-login --as plan-b', 'From the newest of a session'],
    ],
  },
  export: {
    usage: 'export [--session ID] [--format json|yaml]',
    summary: 'Print all checkpoints of a session with their states',
    details: [
      'As JSON: a list of { id, name, timestamp, data, metadata }, oldest first, for `savestate import json`. The first checkpoint has its whole state in `data`; a later one has `changes` instead, with what is different from the state before it. The message is in `reason`. If a checkpoint has no name, `isNamed` is false, and `name` is the message or "checkpoint". As YAML: only the latest state, a mapping with `status` and `updated` added, for `savestate import yaml`.',
      `${STATE_JSON_HELP} A checkpoint with such values in its data, changes or metadata has "tagged": true; a YAML text starts with the line "# tagged: true".`,
    ],
    options: [
      sessionOption('The session; needed unless the project has exactly one'),
      text('format FORMAT', `${EXPORT_FORMATS.join(' or ')} (default json)`, {
        choices: EXPORT_FORMATS,
      }),
    ],
    examples: [['savestate export --session fix-login > fix-login.json', 'Export a session']],
  },
  import: {
    usage: 'import <kind> [PATH] [--session ID] [--prefix TEXT] [--dry-run] [-y]',
    summary: 'Import exported sessions, or the checkpoints of another system',
    details: [
      'For json and yaml, PATH is a file written by `savestate export`, or - for stdin. Its checkpoints are added to the session ID, which is created in this project if it does not exist. A YAML file is one state, a mapping; its time is `updated`, local if it has no time zone. --dry-run only prints how many would be added; with --json, { add, known }.',
      'For hermes, PATH is the folder of its checkpoints (default ~/.hermes/checkpoints): repositories of both versions, archives and task files. For ares, it is the folder of its checkpoints. For breakpilot, it is an exported JSON file. The plan is shown first. PATH is only read. Anything unreadable is listed with the reason, and the rest is imported.',
      'Checkpoints that were imported before are not added again. So after an interrupted import, the same command adds the rest.',
    ],
    positionals: [
      { name: '<kind>', choices: [...IMPORT_KINDS, ...IMPORT_SYSTEM_KINDS] },
      { name: 'PATH', isOptional: true, completes: 'files' },
    ],
    options: [
      sessionOption('The session to add to (json, yaml, breakpilot)'),
      text('prefix TEXT', 'Put TEXT before the ids of the sessions (hermes, ares, breakpilot)'),
      DRY_RUN,
      YES,
    ],
    exclusive: [['session', 'prefix']],
    examples: [
      ['savestate import hermes --dry-run', 'See what Hermes has in ~/.hermes/checkpoints'],
      ['savestate import ares ~/.local/share/ares/checkpoints', 'Import the sessions of ares'],
      ['savestate import json fix-login.json --session fix-login', 'Import a session'],
      ['savestate export --session a | savestate import json - --session b', 'Copy a session'],
    ],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
