// The commands that answer questions from the history of files.
import { type CommandSpec, text } from './command-spec.js'
import { FOLDER_COMMANDS } from './folder-commands.js'

export const HISTORY_COMMANDS = {
  blame: {
    usage: 'blame FILE [-L A,B]',
    summary: 'Show who wrote each line of a file, and for which prompt',
    details: [
      'For each line of the file as it is now: the checkpoint that it first appeared in, its author, the age, the prompt and the tool calls of an agent, the number and the text. Changes since the newest checkpoint are included, and renames are followed.',
      'A rewind writes no line: the lines that it brings back keep their checkpoint, author and prompt.',
      'Lines that are older than the first checkpoint show the commit and its author, if your git has them. Only your git’s objects are read, from the commit that was checked out at the first checkpoint; nothing is written there.',
      'With --json: { path, lines: [{ number, text, source, checkpoint, author, prompt, tool, commit, createdAt }] }. `source` is checkpoint, folder (not saved yet), commit, or older.',
    ],
    positionals: [{ name: 'FILE', completes: 'files' }],
    options: [text('L A,B', 'Only these lines: A,B or A,+N as in git', { short: 'L' })],
    page: 'docs/guide/history.md',
    examples: [
      ['savestate blame src/app.ts', 'Which prompt wrote this line?'],
      ['savestate blame src/app.ts -L 40,+10', 'The ten lines from line 40 on'],
    ],
  },
  log: {
    usage: 'log [-n N] [--prompts] [--grep WORDS] [--pinned] [--session ID | --all] [PATH…]',
    summary: 'List the checkpoints that changed a file or folder, newest first',
    details: [
      'Without a path, the same as `savestate list`, whose options it takes. Paths may also follow `--`.',
    ],
    positionals: [{ name: 'PATH', isOptional: true, isRepeated: true, completes: 'files' }],
    takesPaths: true,
    options: FOLDER_COMMANDS.list.options,
    exclusive: FOLDER_COMMANDS.list.exclusive,
    examples: [
      ['savestate log src/db.ts', 'Which steps changed this file?'],
      ['savestate log -n 5 -- src', 'The newest five that changed something in src'],
    ],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
