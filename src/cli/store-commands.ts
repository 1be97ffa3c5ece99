// The commands for the store as a whole and for the command line itself.
import { type CommandSpec, limitOption } from './spec.js'

export const STORE_COMMANDS = {
  status: {
    usage: 'status [--limit N]',
    summary: 'Show the store: its size and its projects',
    options: [limitOption('At most N projects (default 20; with --json all)')],
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
