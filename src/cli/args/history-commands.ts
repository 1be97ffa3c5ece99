// The commands that answer questions from the history, or turn it into something else.
import { type CommandSpec, flag, limitOption, text } from './command-spec.js'
import { FOLDER_COMMANDS } from './folder-commands.js'

const choice = (form: string, summary: string, choices: readonly string[]) =>
  text(form, summary, { choices })

export const HISTORY_COMMANDS = {
  commits: {
    usage:
      'commits <ref>..<ref> [--per prompt|step|all] [--format mbox|bundle] [-o FILE] [--template FILE|TEXT] [--author "NAME <MAIL>"]',
    summary: 'Turn checkpoints into commits for git am or git fetch',
    details: [
      'A..B are the checkpoints after A, up to and including B, as in git: `5..1` are the last four. `A..` ends with the newest, `..B` begins with the first.',
      'Each prompt becomes one commit with the prompt as its message. Work that a rewind took back is left out. Your own changes between two prompts become a commit of their own. Savestate never writes to your repository: `git am` or `git fetch` does.',
      'The commits follow the commit that HEAD was at A. Changes that were not committed then come first, in a commit of their own. Files that git ignores are left out.',
      'A template is a message with {subject}, {body}, {prompt}, {reason}, {name}, {agent}, {checkpoint} and {date}. The trailers Savestate-Checkpoint and Assisted-by are added to it. Secrets with a known shape are masked in messages, not in files.',
      'With --json: { commits: [{ checkpoint, subject, files }], path }. Without -o nothing is written then.',
    ],
    page: 'docs/guide/history.md',
    positionals: [{ name: '<ref>..<ref>' }],
    options: [
      choice('per WHAT', 'One commit per prompt (default), step (checkpoint), or one for all', [
        'prompt',
        'step',
        'all',
      ]),
      choice('format FORMAT', 'mbox (default) for git am, bundle for git fetch', [
        'mbox',
        'bundle',
      ]),
      text('output FILE', 'Write to this new file instead of stdout', {
        short: 'o',
        completes: 'files',
      }),
      text('template TEMPLATE', 'The message, or a file with it', { completes: 'files' }),
      text('author AUTHOR', 'The author, as in "Ada <ada@example.com>" (default: as in git)'),
    ],
    examples: [
      ['savestate commits 9..1 | git am', 'Apply the work of the last eight checkpoints'],
      ['savestate commits start..1 --format bundle -o work.bundle', 'A file for git fetch'],
      ['git fetch work.bundle savestate:agent-work', 'Take it as a new branch'],
    ],
  },
  notes: {
    usage: 'notes [<ref>..<ref> | --all] [-o FILE]',
    summary: 'Find your commits that contain recorded steps',
    details: [
      'A commit in the history of HEAD contains a step if it has what that step, or a later one before the commit, made of the files that the step changed. Prints the prompts and checkpoints for each commit.',
      '-o writes a bundle with these texts as git notes: `git fetch FILE refs/notes/savestate:refs/notes/savestate` takes them (with a + in front if you have older ones), and `git log --notes=savestate` shows them. Savestate never writes to your repository.',
      'With --json: { notes: [{ commit, checkpoints }] }.',
    ],
    page: 'docs/guide/history.md',
    positionals: [{ name: '<ref>..<ref>', isOptional: true }],
    options: [
      { name: 'all', kind: 'flag', summary: 'All checkpoints (the default without a range)' },
      text('output FILE', 'Write a bundle of git notes to this new file', {
        short: 'o',
        completes: 'files',
      }),
    ],
    examples: [
      ['savestate notes --all', 'Which prompts are in which commit?'],
      ['savestate notes --all -o notes.bundle', 'The same as git notes'],
    ],
  },
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
