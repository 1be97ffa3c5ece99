// The commands for coding agents: `install` runs once, and the agent's hooks call us from then on.
import { AGENT_NAMES, type AgentName } from '../../base/index.js'
import { type CommandSpec, DRY_RUN, flag, number, type OptionSpec, YES } from './command-spec.js'

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

const SCOPE: readonly OptionSpec[] = [
  flag('user', 'For all your projects (the default)'),
  flag('project', 'Only for this project, in its folder'),
]

export const AGENT_COMMANDS = {
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
    usage: 'hook <agent> <event> [--strict] [--patience N]',
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
    usage: 'mcp [--allow-agent-rewind]',
    summary: 'Expose checkpoints to an agent over MCP (stdin and stdout)',
    details: [
      'An agent starts this from its configuration. It can save, list, show, compare and search the checkpoints of the project. It can plan a rewind, but not run it unless you pass --allow-agent-rewind; then it must confirm the plan, and the folder must not have changed since.',
    ],
    page: 'docs/guide/mcp.md',
    options: [flag('allow-agent-rewind', 'Let the agent run a rewind that it has planned')],
    examples: [['claude mcp add savestate -- savestate mcp', 'Add the tools to Claude Code']],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
