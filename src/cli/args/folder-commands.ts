// The commands that read a folder's checkpoints or change the folder.
import {
  type CommandSpec,
  DRY_RUN,
  flag,
  IN_SESSION,
  limitOption,
  messageOption,
  number,
  REF,
  sessionOption,
  text,
  texts,
  YES,
} from './command-spec.js'

const PATH_HELP =
  'Paths are relative to the current folder (DIR with `-C DIR`). Savestate prints names with special characters in double quotes and accepts them in that form; put ./ before a name that really starts with a quote.'

const ONLY_ITS_FILES =
  'Only the files that the rewind changed are touched; later work on other files stays.'

export const FOLDER_COMMANDS = {
  save: {
    usage:
      'save [-m TEXT] [--name NAME] [--session ID] [--state FILE|-] [--no-files] [--max-file-mb N]',
    summary: 'Save the folder, and the state of an agent',
    details: [
      'If nothing has changed since the newest checkpoint, no checkpoint is made: --name is applied to the newest one if it has no name, and -m is ignored.',
      'With --session a checkpoint is always made, and belongs to that session. A session with a new id is created.',
    ],
    options: [
      messageOption('Say why'),
      text('name NAME', 'Give the checkpoint a name'),
      sessionOption('Add the checkpoint to this session'),
      text('state FILE', 'Save the JSON in FILE (- for stdin) as the state of the session', {
        completes: 'files',
        needs: 'session',
      }),
      flag('no-files', 'Save only the state, not the folder', { needs: 'state' }),
      number('max-file-mb N', 'Skip files over N MB (default 10, or the setting maxFileMb)'),
    ],
    examples: [
      ['savestate save -m "before the big refactoring"', 'Save, and say why'],
      ['savestate save --name works', 'Save under a name'],
      ['savestate save --session fix-login --state state.json', 'Save the folder and a state'],
    ],
  },
  list: {
    usage: 'list [-n N] [--prompts] [--grep WORDS] [--pinned] [--session ID | --all] [-- PATH…]',
    summary: 'List the checkpoints, newest first',
    details: [
      'The prompts of coding agents come newest first, each with its tool calls below it in the order in which they ran. The row of a prompt (●) is the folder before the prompt; the row of a call is the folder after the call. Manual saves and rewinds appear between them.',
      'Other commands accept the number or the first letters of the id. On the right are the agent, the lines added and removed, and the age. If someone other than the agent changed files, the row names them: you, or another agent.',
      '--grep lists only checkpoints that `savestate search` finds with these words (with --all: only with the words in the name or message). Paths list only checkpoints that changed one of these files, or a file below one of these folders. For paths each checkpoint is compared with the one before it until enough are found, at about a millisecond each.',
      PATH_HELP,
    ],
    takesPaths: true,
    options: [
      limitOption('Show at most N (default 20; with --json all)'),
      flag('prompts', 'Hide the tool calls, and show how many each prompt had'),
      text('grep WORDS', 'Only checkpoints with all of these words'),
      flag('pinned', 'Only pinned checkpoints'),
      sessionOption('Only checkpoints of this session'),
      flag('all', 'Checkpoints of all projects'),
    ],
    exclusive: [['session', 'all']],
    examples: [
      ['savestate list -n 50', 'The newest 50'],
      ['savestate list --prompts', 'What you asked for'],
      ['savestate list --grep "rm -rf"', 'Find the call that removed too much'],
      ['savestate list -- src/db.ts', 'Which step changed this file?'],
    ],
  },
  show: {
    summary: 'Show one checkpoint in full',
    details: [
      'Shows what changed since the checkpoint before, what was skipped and why, and how to get the files back with git alone. For a checkpoint of a session, also the parts of its state and the latest tool calls before it.',
    ],
    positionals: [REF],
    options: [IN_SESSION],
  },
  cat: {
    usage: 'cat <ref>:PATH [--session ID]',
    summary: 'Print one file of a checkpoint',
    details: [
      'Prints the bytes as they were saved; for a symbolic link, its target. `savestate cat <ref> PATH` is the same. On a terminal, control characters are made visible and binary files are refused.',
      PATH_HELP,
      'With --json: { checkpoint, path, type, mode, size } and the text as `content`, or as `contentBase64` if it is not UTF-8.',
    ],
    positionals: [
      { ...REF, name: '<ref>:PATH', isRaw: true },
      { name: 'PATH', isOptional: true, completes: 'files' },
    ],
    options: [IN_SESSION],
    examples: [
      ['savestate cat 3:src/app.ts', 'See a file as it was'],
      ['savestate cat works:logo.png > old.png', 'Save it beside the new one'],
    ],
  },
  diff: {
    usage: 'diff [<ref> [<ref>]] [--stat] [-- PATH…]',
    summary: 'Show what changed since a checkpoint, or between two',
    details: [
      'Without a checkpoint: from the newest one to the folder as it is now. With one: from it to the folder. With two: from the first to the second.',
      'If several authors changed files, the diff starts with a list of files and their authors.',
      PATH_HELP,
    ],
    positionals: [
      { ...REF, name: '[<ref>]', isOptional: true },
      { ...REF, name: '[<ref>]', isOptional: true },
    ],
    takesPaths: true,
    options: [flag('stat', 'Show only how much changed in each file')],
    examples: [
      ['savestate diff', 'Changes since the newest checkpoint'],
      ['savestate diff 2 1 --stat', 'Amount of change between the last two'],
      ['savestate diff works -- src', 'Changes in src since the checkpoint "works"'],
    ],
  },
  rewind: {
    usage:
      'rewind [<ref> | --last-green] [--before] [--files|--conversation|--state|--both] [--continue] [--session ID] [--path P]… [--keep-mine | --patch] [--dry-run] [-y] [-- PATH…]',
    summary: 'Bring back the folder, the conversation of an agent, or both',
    details: [
      'The current files are saved first, so `savestate undo` can bring them back. Files that Savestate does not save (ignored, too large) are never removed, and are overwritten only if the checkpoint contains them; then they are saved first, too. A file to which `savestate install --project` added hooks is kept whole if the checkpoint has it without hooks; `savestate uninstall --project` removes them, or name the file with --path.',
      'While a question is open, agents and other commands keep saving. If that changes the plan, it is shown again before anything is done.',
      'Without a checkpoint, on a terminal, you pick one from a list with a preview of what going back would change; your own changes are marked. Arrow and page keys, Home and End move; → and ← open and close the steps of a prompt; / searches. Enter on a prompt goes back to before it. Enter on a tool call asks whether to go to before or after the call; u goes to before it at once. f, c and b bring back the files, the conversation (or state), or both. q or Esc quits with exit code 1. If the ssh connection is cut while the list is open, the command ends without changing anything. With TERM=dumb there is no list.',
      'The checkpoint of a tool call is the folder after the call; the checkpoint of a prompt is the folder before it. The confirmation says which. --before goes to just before the call; for a checkpoint that is already from before what it names, such as a prompt, it changes nothing.',
      'For a checkpoint of a coding agent, --conversation copies the conversation up to that point and prints the command that continues it; --continue runs that command. It changes no files and does not ask. --both also brings back the files. The original conversation of the agent is not changed. If the agent cannot continue from there, --conversation fails, and --both says before it asks that only the files will go back.',
      'For an SDK session, --conversation (or --state) brings back the state at that checkpoint, and --both brings back files and state in one step. No other process may be writing to the session at the same time.',
      '--keep-mine keeps what you have changed since the checkpoint. In a text file that an agent has changed too, your lines stay and those of the agent are taken back; where they cannot be separated, the whole file stays as it is. All these files are listed. On a terminal, a rewind that would overwrite your changes asks whether to keep them. Savestate knows the author of a change from the hooks of coding agents, and `savestate list` shows it. Without hooks, every change counts as yours and stays.',
      '--patch shows each change as a patch from the folder to the checkpoint, and asks: y takes it back, n leaves it; a and d decide for the rest of the file; s splits it; j and k go to another one; q stops, and ? explains the keys. All chosen changes are one rewind, which `savestate undo` reverts. Permissions change only with a file that is taken as a whole, such as a binary file.',
      PATH_HELP,
    ],
    positionals: [{ ...REF, name: '[<ref>]', isOptional: true }],
    takesPaths: true,
    options: [
      flag('files', 'Bring back the files (this is the default)'),
      flag('before', 'Go to just before the tool call of the checkpoint'),
      flag('last-green', 'Go to the newest checkpoint whose tests passed (✓ in the list)'),
      flag('conversation', 'Bring back the conversation, and leave the files alone'),
      flag('state', 'The same, for the state of an SDK session'),
      flag('both', 'Bring back files and conversation (or state)'),
      flag('continue', 'With --both or --conversation: run the agent with that conversation'),
      IN_SESSION,
      texts('path P', 'Only this file or folder; may be given more than once', {
        short: 'p',
        completes: 'files',
      }),
      flag('keep-mine', 'Keep what you have changed since then'),
      flag('patch', 'Choose the changes to take back one by one, on a terminal'),
      DRY_RUN,
      YES,
    ],
    exclusive: [
      ['files', 'conversation', 'state', 'both'],
      ['last-green', 'before', 'session'],
      ['keep-mine', 'conversation'],
      ['patch', 'keep-mine'],
      ['patch', 'conversation'],
      ['patch', 'state'],
      ['patch', 'both'],
      ['patch', 'dry-run'],
      ['patch', 'yes'],
      ['keep-mine', 'state'],
      ['path', 'conversation'],
      ['path', 'state'],
      ['path', 'both'],
      ['continue', 'files'],
      ['continue', 'state'],
      ['continue', 'path'],
      ['continue', 'dry-run'],
    ],
    examples: [
      ['savestate rewind', 'Pick from a list'],
      ['savestate rewind 1', 'Go back to the newest checkpoint'],
      ['savestate rewind works --path src/app.ts', 'Bring back one file'],
      ['savestate rewind 3 --before', 'Go back to just before that tool call'],
      ['savestate rewind 3 --dry-run', 'See what would happen'],
      ['savestate rewind 3 --keep-mine', 'Undo what the agent did, keep your lines'],
      ['savestate rewind 3 --patch', 'Choose what to take back'],
      ['savestate rewind 2 --both', 'Bring back the folder and the conversation'],
      ['savestate rewind 2 --conversation', 'Go back in the conversation, keep the files'],
    ],
  },
  undo: {
    usage: 'undo [<ref>… | A..B] [--ours | --theirs | --conflict HOW] [--dry-run] [-y]',
    summary: 'Undo the last rewind, or what single checkpoints changed',
    details: [
      `Without a checkpoint: undoes the last rewind. ${ONLY_ITS_FILES}`,
      'With checkpoints: takes back what each of them changed since the checkpoint before it, and keeps everything later. A..B means the checkpoints after A, up to and including B; without B, up to the newest. All of them are one plan, which `savestate undo` reverts.',
      'A file that is untouched since goes back to its version before the step. In other text files the lines of the step are taken back and later changes stay, as in a merge of git; a renamed file is found under its new name. If both changed the same lines, or if the file is binary, that file cannot be merged: nothing is changed at all, and such files are listed. Then decide with --ours, --theirs or --conflict=markers.',
    ],
    positionals: [{ ...REF, name: '[<ref>]', isOptional: true, isRepeated: true }],
    options: [
      flag('ours', 'Leave files that cannot be merged as they are'),
      flag('theirs', 'Bring back such files whole, as they were before the step'),
      text('conflict HOW', 'refuse (default), markers, ours or theirs', {
        choices: ['refuse', 'markers', 'ours', 'theirs'],
      }),
      DRY_RUN,
      YES,
    ],
    exclusive: [['ours', 'theirs', 'conflict']],
    examples: [
      ['savestate undo', 'Undo the last rewind'],
      ['savestate undo 4', 'Take back one step, keep what came after it'],
      ['savestate undo 7..4 --dry-run', 'See what taking back steps 6, 5 and 4 would change'],
      ['savestate undo 4 --conflict=markers', 'Merge conflicts by hand'],
    ],
  },
  redo: {
    summary: 'Redo the last undone rewind',
    details: [ONLY_ITS_FILES],
    options: [DRY_RUN, YES],
  },
  ui: {
    summary: 'Open a page with the timeline, diffs and every way back',
    details: [
      'Serves the page on 127.0.0.1 until Ctrl-C, or until no page has been open for 15 minutes. The address contains a key, and only a browser that opened it can use the page. The page loads nothing from the network.',
      'With --json the first line on stdout is {"url": …}.',
    ],
    page: 'docs/guide/page.md',
    options: [
      number('port N', 'Listen on port N (default: any free port)'),
      flag('no-open', 'Do not open a browser, only print the address'),
      flag('read-only', 'Leave out everything that changes something, and keep secrets masked'),
      text(
        'export FILE',
        'Write the page of this project into one HTML file instead, with secrets masked; it opens without a server',
      ),
    ],
    examples: [
      ['savestate ui', 'See what the agent did'],
      ['savestate ui --read-only', 'Only look; agents may run this, too'],
      ['savestate ui --export work.html', 'A file to keep or to send'],
    ],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
