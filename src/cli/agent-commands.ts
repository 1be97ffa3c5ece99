// The commands for coding agents: they are installed once, and their hooks call us from then on.
import { type CommandSpec, DRY_RUN, type OptionSpec, YES } from './spec.js'

/** The same as AGENT_NAMES of the adapters, which are not loaded to read arguments. */
export const AGENTS = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'cursor',
  'cline',
  'copilot',
  'hermes',
] as const

/** The names of their programs. */
export const AGENT_TITLES: Readonly<Record<(typeof AGENTS)[number], string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
  cursor: 'Cursor',
  cline: 'Cline',
  copilot: 'Copilot CLI',
  hermes: 'Hermes',
}

const SCOPE: readonly OptionSpec[] = [
  { name: 'user', kind: 'flag', summary: 'For all your projects (the default)' },
  { name: 'project', kind: 'flag', summary: 'For this project alone, in its folder' },
]

export const AGENT_COMMANDS = {
  install: {
    usage:
      'install <agent> | --all [--user|--project] [--strict] [--http] [--trust] [--mcp] [--allow-agent-rewind] [--dry-run] [-y]',
    summary: 'Make an agent save at every prompt and tool call',
    details: [
      "Adds hooks to the agent's configuration. It shows a summary and asks first; `v` shows every changed line. Nothing else in the files changes.",
      'Codex runs only hooks that you trust. You are asked separately; --trust answers yes in advance.',
      'With --http the configuration contains a token and becomes readable by you only, and the daemon opens a TCP port on 127.0.0.1: docs/agents.md.',
    ],
    positionals: [
      {
        name: '<agent>',
        isOptional: true,
        choices: AGENTS,
        otherwise: 'Any other agent or program: savestate run --',
      },
    ],
    options: [
      { name: 'all', kind: 'flag', summary: 'All agents found on this machine' },
      ...SCOPE,
      {
        name: 'strict',
        kind: 'flag',
        summary: 'A checkpoint that fails before a tool runs stops the tool',
      },
      {
        name: 'http',
        kind: 'flag',
        summary: 'Claude Code reports tool calls to the daemon over HTTP, which is faster',
      },
      { name: 'trust', kind: 'flag', summary: 'Record for Codex that you trust these hooks' },
      {
        name: 'mcp',
        kind: 'flag',
        summary: 'Also register the MCP server; an install without this option removes it',
      },
      {
        name: 'allow-agent-rewind',
        kind: 'flag',
        summary: 'Let the agent rewind without asking you; an install without it revokes that',
      },
      DRY_RUN,
      YES,
    ],
    exclusive: [
      ['user', 'project'],
      ['http', 'project'],
      ['http', 'strict'],
    ],
    examples: [
      ['savestate install claude', 'Undo for everything Claude Code does from now on'],
      ['savestate install --all --dry-run', 'See what would be written for which agents'],
    ],
  },
  uninstall: {
    usage: 'uninstall <agent> | --all [--user|--project] [--dry-run] [-y]',
    summary: 'Remove the hooks that install has added',
    positionals: [{ name: '<agent>', isOptional: true, choices: AGENTS }],
    options: [{ name: 'all', kind: 'flag', summary: 'All agents' }, ...SCOPE, DRY_RUN, YES],
    exclusive: [['user', 'project']],
  },
  hook: {
    usage: 'hook <agent> <event> [--strict] [--patience N]',
    summary: 'Handle one event of an agent; its configuration calls this',
    details: [
      'Reads what the agent tells on stdin, saves the folder if the event calls for it, and answers as that agent expects. Whatever goes wrong, the agent goes on: the failure is shown once and stands in `savestate status`.',
      'Never ends with exit code 2, which agents take for a refusal, unless `--strict` is given and the answer that stops a tool cannot be written, or the call cannot be read.',
    ],
    positionals: [{ name: '<agent>', choices: AGENTS }, { name: '<event>' }],
    options: [
      {
        name: 'strict',
        kind: 'flag',
        summary: 'A checkpoint that fails before a tool runs stops the tool',
      },
      {
        name: 'patience',
        kind: 'number',
        value: 'N',
        summary: 'Give a checkpoint up after N seconds (default 10)',
      },
    ],
  },
  mcp: {
    usage: 'mcp [--allow-agent-rewind]',
    summary: 'Expose checkpoints to an agent over MCP (stdin and stdout)',
    details: [
      "An agent's configuration runs this: docs/mcp.md. The agent can save, list, show, compare and search checkpoints of the project. It can only plan a rewind, unless you give the option; even then it must confirm the plan, and only while the folder is unchanged.",
    ],
    options: [
      {
        name: 'allow-agent-rewind',
        kind: 'flag',
        summary: 'Let the agent carry out a rewind that it has planned',
      },
    ],
    examples: [['claude mcp add savestate -- savestate mcp', 'Give the tools to Claude Code']],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
