// The commands for sessions: what agents were doing, and how they go on.
import {
  type CommandSpec,
  DRY_RUN,
  IN_SESSION,
  limitOption,
  REF,
  sessionOption,
  STATE_JSON_HELP,
  YES,
} from './spec.js'

export const STATUSES = ['in_progress', 'completed', 'failed', 'halted'] as const
/** Not a status of its own, but `sessions` prints it as one. */
export const INTERRUPTED = 'interrupted'
export const EXPORT_FORMATS = ['json', 'yaml'] as const
/** How each is read is in import-kinds.ts. */
export const IMPORT_KINDS = ['json', 'yaml'] as const
/** The same as IMPORT_SYSTEMS of the SDK, which is not loaded to read arguments. */
export const IMPORT_SYSTEM_KINDS = ['hermes', 'ares', 'breakpilot'] as const

export const SESSION_COMMANDS = {
  sessions: {
    usage: 'sessions [--here] [--interrupted] [--status S] [--limit N]',
    summary: 'List the sessions of all projects, last touched first',
    details: [
      'A session is interrupted when it is in progress and nobody is at work on it: its process died, or left it before it was ended.',
    ],
    options: [
      { name: 'here', kind: 'flag', summary: 'Only those of the current project' },
      { name: 'interrupted', kind: 'flag', summary: 'The same as --status interrupted' },
      {
        name: 'status',
        kind: 'text',
        value: 'S',
        summary: `Only those with this status: ${[...STATUSES, INTERRUPTED].join(', ')}`,
        choices: [...STATUSES, INTERRUPTED],
      },
      limitOption('At most N of them (default 20; with --json all)'),
    ],
    exclusive: [['interrupted', 'status']],
  },
  resume: {
    usage: 'resume <session> [--max-chars N]',
    summary: 'Print what an agent must know to go on with a session',
    details: [
      'Finishes what was interrupted, then prints a text to put in front of the model: what is uncertain, what changed in the folder, what was done. Ends with SESSION_BUSY while a live process writes the session.',
      `With --json also the state, and all of the rest as data. ${STATE_JSON_HELP}`,
    ],
    positionals: [{ name: '<session>', completes: 'session' }],
    options: [
      {
        name: 'max-chars',
        kind: 'number',
        value: 'N',
        summary: 'At most N characters, the most important first (default 4000)',
      },
    ],
    examples: [
      ['savestate sessions --interrupted', 'Find what died'],
      ['savestate resume fix-login', 'What the next agent is told'],
      ['savestate resume fix-login --json', 'The same with the state, for a program'],
    ],
  },
  fork: {
    usage: 'fork <ref> [--as NEW-ID] [--session ID]',
    summary: 'Begin a new session at a checkpoint',
    details: [
      'The new session has the state and the files of the checkpoint as its first one, and disturbs nothing: the old session and the folder stay as they are.',
    ],
    positionals: [REF],
    options: [
      {
        name: 'as',
        kind: 'text',
        value: 'NEW-ID',
        summary: 'The id of the new session (default: that of the old one with -fork-1, -fork-2 …)',
      },
      IN_SESSION,
    ],
    examples: [
      ['savestate fork 3', 'Try something else from the third newest checkpoint on'],
      ['savestate fork 1 --session fix-login --as plan-b', 'From the newest of a session'],
    ],
  },
  export: {
    usage: 'export [--session ID] [--format json|yaml]',
    summary: 'Print all checkpoints of a session with their states',
    details: [
      'As JSON: a list of { id, name, timestamp, data, metadata }, oldest first, which `savestate import json` reads. A reason stands beside them as `reason`; where there is no name, `isNamed` is false, and `name` is the reason, or "checkpoint". As YAML: the latest state alone, a mapping with `status` and `updated` added, which `savestate import yaml` reads.',
      `${STATE_JSON_HELP} A checkpoint in whose data or metadata there are such has "tagged": true beside them; a YAML text begins with the line "# tagged: true".`,
    ],
    options: [
      sessionOption('Which one; needed unless the project has exactly one session'),
      {
        name: 'format',
        kind: 'text',
        value: 'FORMAT',
        summary: `${EXPORT_FORMATS.join(' or ')} (default json)`,
        choices: EXPORT_FORMATS,
      },
    ],
    examples: [['savestate export --session fix-login > fix-login.json', 'Take a session along']],
  },
  import: {
    usage: 'import <kind> [PATH] [--session ID] [--prefix TEXT] [--dry-run] [-y]',
    summary: 'Bring in what was exported, or what another system has kept',
    details: [
      'Of the kinds json and yaml, PATH is a file as `savestate export` prints it, or - for stdin, and its checkpoints are added to the session ID, which is made in this project if there is none. A YAML file is one state, a mapping; its time is taken from `updated`, and is local if it names no zone. With --dry-run it is only told how many would be added, as JSON { add, known }.',
      'Of the kind hermes, PATH is the folder of its checkpoints: repositories of both versions, archives and task files, as they occur. Of the kind ares, it is the folder of its checkpoints. Of the kind breakpilot, it is the JSON file of an export. What would be added is shown first. PATH is only read. What cannot be read is listed with the reason, and the rest is imported.',
      'What is there already is not added again.',
    ],
    positionals: [
      { name: '<kind>', choices: [...IMPORT_KINDS, ...IMPORT_SYSTEM_KINDS] },
      { name: 'PATH', isOptional: true, completes: 'files' },
    ],
    options: [
      sessionOption('Where they are added (json, yaml, breakpilot)'),
      {
        name: 'prefix',
        kind: 'text',
        value: 'TEXT',
        summary: 'Put TEXT in front of the ids of the sessions (hermes, ares, breakpilot)',
      },
      DRY_RUN,
      YES,
    ],
    exclusive: [['session', 'prefix']],
    examples: [
      ['savestate import hermes --dry-run', 'See what Hermes has in ~/.hermes/checkpoints'],
      ['savestate import ares ~/.local/share/ares/checkpoints', 'Bring in the sessions of ares'],
      ['savestate import json fix-login.json --session fix-login', 'Bring a session here'],
      ['savestate export --session a | savestate import json - --session b', 'Copy one'],
    ],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
