// The commands for coding agents: they are installed once, and their hooks call us from then on.
import type { CommandSpec } from './spec.js'

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

export const AGENT_COMMANDS = {
  hook: {
    usage: 'hook <agent> <event> [--strict] [--patience N]',
    summary: 'Handle one event of an agent; its configuration calls this',
    details: [
      'Reads what the agent tells on stdin, saves the folder if the event calls for it, and answers as that agent expects. Whatever goes wrong, the agent goes on: the failure is shown once and stands in `savestate status`.',
      'Never ends with exit code 2, which agents take for a refusal.',
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
} as const satisfies Readonly<Record<string, CommandSpec>>
