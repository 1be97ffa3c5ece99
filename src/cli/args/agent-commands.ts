// The commands for agents: their sessions, and the hooks of coding agents. `install` runs once, and the agent's hooks call
// us from then on.
import { AGENT_NAMES, type AgentName } from '../../base/index.js'
import { dependenciesOption } from './attempt-commands.js'
import {
  type CommandSpec,
  DRY_RUN,
  flag,
  IN_SESSION,
  limitOption,
  number,
  onRemoteOption,
  type OptionSpec,
  REF,
  sessionOption,
  STATE_JSON_HELP,
  text,
  YES,
} from './command-spec.js'

export const AGENT_TITLES: Readonly<Record<AgentName, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
  cursor: 'Cursor',
  cline: 'Cline',
  copilot: 'Copilot CLI',
  hermes: 'Hermes',
}

export const STATUSES = ['in_progress', 'completed', 'failed', 'halted'] as const
/** Not a status of its own, but `sessions` prints it as one. */
export const INTERRUPTED = 'interrupted'
/** The same as IMPORT_SYSTEMS of the SDK, which is not loaded to parse arguments. */
export const IMPORT_SYSTEM_KINDS = ['hermes', 'ares', 'breakpilot'] as const

const SCOPE: readonly OptionSpec[] = [
  flag('user', 'For all your projects (the default)'),
  flag('project', 'Only for this project, in its folder'),
]

export const AGENT_COMMANDS = {
  sessions: {
    usage: 'sessions [--here] [--interrupted] [--status S] [--remote [NAME]] [--limit N]',
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
      onRemoteOption('List those of a remote instead; NAME is needed if there are several'),
      limitOption('Show at most N (default 20; with --json all)'),
    ],
    exclusive: [
      ['interrupted', 'status'],
      ['remote', 'here'],
      ['remote', 'interrupted'],
      ['remote', 'status'],
    ],
  },
  resume: {
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
    summary: 'Start a new session at a checkpoint',
    details: [
      'The first checkpoint of the new session has the state and the files of that checkpoint. The old session and the folder stay as they are.',
      'With --into, the files are written into DIR, a new or empty folder, which becomes the project of the new session: two attempts can run at the same time. `savestate compare` compares them, and `savestate adopt` brings the files of one back.',
    ],
    positionals: [REF],
    options: [
      text('as NEW-ID', 'The id of the new session (default: the old id with -fork-1, -fork-2 …)'),
      IN_SESSION,
      text('into DIR', 'Write the files into DIR, and let the new session work there', {
        completes: 'folders',
      }),
      { ...dependenciesOption('none'), needs: 'into' },
    ],
    examples: [
      ['savestate fork 3 --into ../try-b --as try-b', 'A second attempt in a folder of its own'],
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
      text('format FORMAT', 'json or yaml (default json)', { choices: ['json', 'yaml'] }),
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
      { name: '<kind>', choices: ['json', 'yaml', ...IMPORT_SYSTEM_KINDS] },
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
  install: {
    usage:
      'install <agent> | --all [--user|--project] [--strict] [--http] [--trust] [--mcp] [--allow-agent-rewind] [--dry-run] [-y]',
    summary: 'Make an agent save at every prompt and tool call',
    details: [
      "Adds hooks to the agent's configuration. It shows a summary and asks first; `v` shows every changed line. Nothing else in the files changes.",
      'Codex runs only hooks that you trust. You are asked separately; --trust answers yes in advance.',
      'With --http the configuration contains a token and becomes readable by you only, and the daemon opens a TCP port on 127.0.0.1.',
    ],
    page: 'docs/guide/coding-agents.md',
    positionals: [
      {
        name: '<agent>',
        isOptional: true,
        choices: AGENT_NAMES,
        otherwise: ([word]) => `For any other agent or program: \`savestate run -- ${word}\``,
      },
    ],
    options: [
      flag('all', 'All agents found on this machine'),
      ...SCOPE,
      flag('strict', 'Stop a tool call if the checkpoint before it fails'),
      flag('http', 'Claude Code reports tool calls to the daemon over HTTP, which is faster'),
      flag('trust', 'Record for Codex that you trust these hooks'),
      flag('mcp', 'Also register the MCP server; an install without this option removes it'),
      flag(
        'allow-agent-rewind',
        'Let the agent rewind without asking you; an install without it revokes that',
      ),
      DRY_RUN,
      YES,
    ],
    exclusive: [
      ['user', 'project'],
      ['http', 'project'],
      ['http', 'strict'],
    ],
    examples: [
      ['savestate install claude', 'Save everything Claude Code does from now on'],
      ['savestate install --all --dry-run', 'See what would be added for which agents'],
    ],
  },
  uninstall: {
    usage: 'uninstall <agent> | --all [--user|--project] [--dry-run] [-y]',
    summary: 'Remove the hooks that install has added',
    positionals: [{ name: '<agent>', isOptional: true, choices: AGENT_NAMES }],
    options: [flag('all', 'All agents'), ...SCOPE, DRY_RUN, YES],
    exclusive: [['user', 'project']],
  },
  hook: {
    summary: 'Handle one event of an agent; its hooks run this',
    details: [
      'Reads the event from stdin, saves the folder if the event calls for it, and answers in the form that the agent expects. If something fails, the agent continues: the failure is shown once, and `savestate status` lists it.',
      'Agents treat exit code 2 as a refusal. The command never ends with it, unless --strict is given and the refusal cannot be written, or the event cannot be read.',
    ],
    positionals: [{ name: '<agent>', choices: AGENT_NAMES }, { name: '<event>' }],
    options: [
      flag('strict', 'Stop a tool call if the checkpoint before it fails'),
      number('patience N', 'Give up on a checkpoint after N seconds (default 10)'),
    ],
  },
  mcp: {
    summary: 'Expose checkpoints to an agent over MCP (stdin and stdout)',
    details: [
      'An agent starts this from its configuration. It can save, list, show, compare and search the checkpoints of the project. It can plan a rewind, but not run it unless you pass --allow-agent-rewind; then it must confirm the plan, and the folder must not have changed since.',
    ],
    page: 'docs/guide/mcp.md',
    options: [flag('allow-agent-rewind', 'Let the agent run a rewind that it has planned')],
    examples: [['claude mcp add savestate -- savestate mcp', 'Add the tools to Claude Code']],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
