// The commands for single checkpoints, for the store as a whole and for the command line itself.
import {
  type CommandSpec,
  DRY_RUN,
  flag,
  FORCE,
  IN_SESSION,
  limitOption,
  messageOption,
  number,
  onRemoteOption,
  type OptionSpec,
  REF,
  REFERENCE_HELP,
  YES,
} from './command-spec.js'

/** For commands that save when changes stop. */
const SAVING: readonly OptionSpec[] = [
  messageOption('The message of every checkpoint'),
  number('quiet N', 'Save when nothing has changed for N seconds (default 1)'),
]

export const STORE_COMMANDS = {
  pin: {
    summary: 'Keep a checkpoint regardless of the limits',
    positionals: [REF],
  },
  unpin: {
    summary: 'Let the limits apply to a checkpoint again',
    positionals: [REF],
  },
  name: {
    usage: 'name <ref> NAME | name <ref> --remove',
    summary: 'Name a checkpoint, or remove its name',
    details: [
      'A checkpoint has one name; a new name replaces it. If several checkpoints have the same name, it means the newest of them. The limits never remove a checkpoint that has a name.',
    ],
    positionals: [REF, { name: 'NAME', isOptional: true }],
    options: [flag('remove', 'Remove the name')],
    examples: [
      ['savestate name 1 works', 'Name the newest checkpoint'],
      ['savestate name works --remove', 'Remove that name'],
    ],
  },
  status: {
    usage: 'status [--limit N]',
    summary: 'Show the store: its size and its projects',
    options: [limitOption('Show at most N projects (default 20; with --json all)')],
  },
  config: {
    usage: 'config [get KEY | set KEY VALUE | unset KEY | trust] [--project] [-y]',
    summary: 'Show or change settings',
    details: [
      'Without arguments it shows every setting and the file that sets it. Settings are in config.json in the store or, with --project, in .savestate.json in the project.',
      'Anyone who can write to the project can write .savestate.json and .savestateignore. So these files can make Savestate keep more and leave out more, but a shorter history or saved secrets count only after you have run `savestate config trust` on exactly these contents.',
    ],
    page: 'docs/reference/settings.md',
    positionals: [
      {
        name: '[get|set|unset|trust]',
        isOptional: true,
        choices: ['get', 'set', 'unset', 'trust'],
        otherwise: (words) =>
          words.length === 1
            ? `To read a setting: \`savestate config get ${words[0]}\``
            : `To change a setting: \`savestate config set ${words.join(' ')}\``,
      },
      { name: '[KEY]', isOptional: true },
      { name: '[VALUE]', isOptional: true },
    ],
    options: [flag('project', 'Change .savestate.json of this project'), YES],
    examples: [
      ['savestate config set maxSizeMb 5000', 'Let the store take 5 GB'],
      ['savestate config set --project keepAllHours 168', 'Keep all of this project for a week'],
      ['savestate config unset maxSizeMb', 'Back to the default'],
      ['savestate config trust', 'See what the files of this project ask for, and confirm it'],
    ],
  },
  move: {
    summary: 'Take the checkpoints of a moved folder along',
    details: [
      'A project is known by its path. After `mv app app2` its checkpoints are still those of app: run `savestate move ../app` in app2. NEW is the current folder unless you name one. OLD must no longer exist, and NEW must have no checkpoints of its own.',
      'If a folder was removed, its checkpoints are still there: `savestate -C OLD list` shows them, and `savestate -C OLD rewind 1` makes the folder again. A manual `savestate prune` removes the checkpoints of folders that are gone; the automatic one keeps them as long as those of other projects.',
    ],
    positionals: [
      { name: 'OLD', completes: 'files' },
      { name: '[NEW]', isOptional: true, completes: 'files' },
    ],
    examples: [['savestate move ~/code/app', 'This folder was ~/code/app before']],
  },
  prune: {
    summary: 'Remove checkpoints that the settings no longer keep',
    details: [
      'Every checkpoint is kept for 48 hours, then one per prompt for 30 days, then one per day for a year, within 2 GB. Pinned and named checkpoints stay. Shows what would be removed and why, and asks first.',
      'To change these limits: savestate config. The options below set additional limits for this run only.',
    ],
    options: [
      number('retention-days N', 'Remove projects and sessions that were not used for N days'),
      number('max-size-mb N', 'Bring the store under N MB'),
      number(
        'max-checkpoints N',
        'Keep only the newest N checkpoints of each project, besides what is pinned, named or of a session in progress',
      ),
      flag('keep-orphans', 'Keep projects whose folder is gone'),
      DRY_RUN,
      YES,
      flag(
        'unattended',
        'For timers: do not ask, keep projects whose folder is gone, and print nothing if all is well',
      ),
      onRemoteOption(
        'Prune a remote instead: sessions that no machine has, by your settings; then what nothing needs',
      ),
    ],
    exclusive: [
      'retention-days',
      'max-size-mb',
      'max-checkpoints',
      'keep-orphans',
      'unattended',
    ].map((name) => ['remote', name]),
    examples: [
      ['savestate prune --dry-run', 'See what would be removed'],
      ['savestate prune --max-size-mb 200 -y', 'Bring the store under 200 MB'],
    ],
  },
  drop: {
    summary: 'Remove single checkpoints',
    details: [
      REFERENCE_HELP,
      'Shows the checkpoints and asks first. It refuses pinned checkpoints and the one that a session in progress continues from. The folder is not touched.',
    ],
    positionals: [{ ...REF, isRepeated: true }],
    options: [IN_SESSION, DRY_RUN, YES],
    examples: [
      ['savestate drop 3 5', 'Remove two checkpoints of this project'],
      ['savestate drop 2 --session fix-login', 'Remove one of a session'],
    ],
  },
  forget: {
    summary: 'Remove a path from the whole history of the project',
    details: [
      'For a secret or a large file that should never have been saved: it is removed from every checkpoint, and its contents from the store. The file in the folder is not touched.',
    ],
    positionals: [{ name: '<path>', completes: 'files' }],
    options: [DRY_RUN, YES],
    examples: [['savestate forget config/secrets.json', 'Remove it from every checkpoint']],
  },
  clear: {
    usage: 'clear [--all] [--dry-run] [-y|-f]',
    summary: 'Remove all checkpoints of this project, or with --all of all projects',
    details: [
      'Also removes the sessions of the project. Shows what would be removed and asks first. The folders themselves are not touched, and your settings in config.json stay.',
    ],
    options: [flag('all', 'Empty the whole store'), DRY_RUN, YES, FORCE],
    examples: [
      ['savestate clear --dry-run', 'See what would be removed'],
      ['savestate -C ../old clear', 'Remove the history of another project'],
    ],
  },
  'clear-legacy': {
    usage: 'clear-legacy [-y|-f]',
    summary: 'Remove the archives of older stores (legacy-* in the store)',
    options: [YES, FORCE],
  },
  verify: {
    summary: 'Check that the store is intact',
    details: [
      'Ends with exit code 2 if it is not. Leftovers of killed processes are reported as notes; they are harmless.',
    ],
    options: [
      flag('quick', 'Check only the structure, without reading contents'),
      onRemoteOption('Read everything that a remote has, and check it, instead'),
    ],
    exclusive: [['quick', 'remote']],
  },
  repair: {
    summary: 'Rebuild derived data and quarantine damaged files',
    details: [
      'Shows the plan and asks first. Damaged files are moved to the folder `damaged` in the store, never deleted.',
      'Ends with exit code 2 if something could not be recovered.',
    ],
    options: [DRY_RUN, YES],
  },
  doctor: {
    summary: 'Print one page for a bug report',
    details: [
      'Prints versions, sizes, settings, the agents with hooks, the last failures and a quick verify. It contains no messages, file names or agent state.',
    ],
    options: [flag('paths', 'Also print the paths of projects and the messages of failures')],
  },
  rekey: {
    summary: 'Encrypt agent states, or change the key',
    details: [
      'The new key is in SAVESTATE_NEW_KEY, or in the file named by SAVESTATE_NEW_KEY_FILE; the current key in SAVESTATE_KEY or SAVESTATE_KEY_FILE. A key is 32 bytes, as 64 hexadecimal digits or base64. With only a current key, it encrypts what was saved before there was a key.',
      'Shows the plan and asks first. No other program may have the store open; the daemon is stopped. If it is killed, the old key or the new one is in effect: run it again.',
    ],
    options: [flag('plain', 'Remove the key: decrypt everything'), DRY_RUN, YES],
    examples: [
      [
        'SAVESTATE_NEW_KEY_FILE=~/.savestate-key savestate rekey',
        'Encrypt a store, or change its key',
      ],
    ],
  },
  watch: {
    summary: 'Save the folder whenever changes stop, until Ctrl-C',
    details: [
      'The kernel reports changed files, so a save takes time for what changed, not for the whole folder. Each checkpoint is printed as it is made; with --json, as one line each.',
      'A folder that keeps changing is saved once a minute. Unsaved changes are saved at the end.',
    ],
    options: SAVING,
  },
  run: {
    usage: 'run [-m TEXT] [--quiet N] -- COMMAND…',
    summary: 'Run a command, and save the folder before, during and after it',
    details: [
      'For an agent, or any other program, without hooks. The command gets its arguments, the terminal, input, output and signals as if it were started directly, and `savestate run` ends with its exit code.',
      'At the end a summary on stderr says what changed and how to undo it; with --json it is the last line of stderr, as JSON. Only the command writes to stdout.',
      'A failed save never stops the command; it is reported at the end. Exit code 127: command not found. 126: not executable.',
    ],
    takesCommand: true,
    options: SAVING,
    examples: [
      ['savestate run -- aider', 'Work with an agent, and be able to undo it'],
      ['savestate run -m "new formatter" -- npx prettier --write .', 'Say why'],
    ],
  },
  daemon: {
    summary: 'Run a background process that makes hooks and saves faster',
    details: [
      'The first hook of an agent starts it. Hooks, save and status use it if it is running, and give the same answers without it. It ends after 30 minutes without a request (daemonIdleMinutes in config.json).',
      'It listens on a Unix socket that only you can open. It opens a TCP port on 127.0.0.1 only with --http, or while an agent has hooks from `savestate install --http`.',
      'stop lets it finish its work. run is the same process in the foreground, for a service manager.',
    ],
    page: 'docs/guide/daemon.md',
    positionals: [{ name: 'start|stop|status|run', choices: ['start', 'stop', 'status', 'run'] }],
    options: [flag('http', 'start, run: listen on a TCP port too, for HTTP')],
    examples: [['savestate daemon status --json', 'Where it listens, and how much memory it uses']],
  },
  completion: {
    summary: 'Print a script that completes commands and checkpoints in your shell',
    positionals: [{ name: 'bash|zsh|fish', choices: ['bash', 'zsh', 'fish'] }],
    examples: [
      ['source <(savestate completion bash)', 'In ~/.bashrc'],
      ['source <(savestate completion zsh)', 'In ~/.zshrc, after compinit'],
      ['savestate completion fish | source', 'In ~/.config/fish/config.fish'],
    ],
  },
  help: {
    summary: 'Show help for all commands or for one',
    positionals: [{ name: '[command]', isOptional: true, completes: 'command' }],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
