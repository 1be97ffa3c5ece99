// The commands that answer questions about the history.
import { type CommandSpec, flag, limitOption, text } from './command-spec.js'

export const HISTORY_COMMANDS = {
  search: {
    usage: 'search WORDS… [--path P] [--by WHO] [--since T] [--content] [-n N]',
    summary: 'Find words in prompts, answers, commands and changed files',
    details: [
      'Finds the checkpoints that have all of the words, newest first, and prints the lines with them. Searches prompts, answers and arguments of tool calls as the agent recorded them, messages, names and changed paths; with --content also the contents of changed files up to 1 MB. A word is also found inside of other words, and case is ignored.',
      'An index in the store makes this fast. The first search builds it, which takes some seconds for ten thousand checkpoints; so does the first one after a prune that removed something. Prompts and conversations of an encrypted store are searched only with the setting searchIndex, because the index is not encrypted.',
      'On a terminal, secrets with a known form are masked.',
    ],
    positionals: [{ name: 'WORDS', isRepeated: true }],
    options: [
      text('path P', 'Only checkpoints that changed this file, or a file below this folder', {
        completes: 'files',
      }),
      text('by WHO', 'Only changes of this author: you, or an agent such as claude'),
      text('since T', 'Only checkpoints since then: 2h, 3d, 1w, or a date such as 2026-11-01'),
      flag('content', 'Also search the contents of changed files'),
      limitOption('Show at most N checkpoints (default 20)'),
    ],
    examples: [
      ['savestate search "retry loop"', 'Which prompt or answer was about it?'],
      ['savestate search rm -n 5', 'The newest commands with rm'],
      ['savestate search parseRef --content --path src', 'A function that was deleted'],
    ],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
