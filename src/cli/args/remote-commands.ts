// The commands for remotes: shared places for sessions and their files.
import { type CommandSpec, DRY_RUN, flag, text, YES } from './command-spec.js'

const PAGE = 'docs/guide/handoff.md'

/** Needed only if there are several. */
const REMOTE = text('remote NAME', 'The remote; needed if there are several', {
  completes: 'remote',
})

const SESSION = {
  name: '[SESSION]',
  isOptional: true,
  completes: 'session',
} as const

export const REMOTE_COMMANDS = {
  remote: {
    usage:
      'remote [list] | add NAME URL (--key-file F | --plain) [--schema S] [--auto-push] | set NAME (--auto-push | --no-auto-push) | init [NAME] [--print-sql [--role R]] | remove NAME | drop NAME SESSION… [--take] [--dry-run] [-y]',
    summary: 'Show, add or remove places to share sessions with',
    details: [
      'URL is a PostgreSQL database (postgres://host/database) or a git repository: a URL, user@host:path, or a path. `add` only records it, in remotes.json in the store; `init` creates the tables or refs, which is needed once per remote. Nothing is ever sent to a remote that you have not added.',
      'With --key-file everything is encrypted before it leaves this machine: the file holds the key, and is created if it does not exist. Everyone who shares the remote needs the same key. Without the key the server learns ids (also those that you give sessions), numbers, sizes and times, the status of a session, which sessions belong to one project, and which have the same agent or tree of files, but not which. With --plain it can read everything.',
      'A password in the URL is stored in remotes.json, which only you can read, and never shown. Better leave it out: PostgreSQL remotes read PGPASSWORD and ~/.pgpass, and git its credential helpers.',
      '`drop` deletes sessions on the remote, for everyone who shares it. Copies in stores stay, and a later push sends one again only if you name it.',
    ],
    page: PAGE,
    positionals: [
      {
        name: '[list|add|set|init|remove|drop]',
        isOptional: true,
        choices: ['list', 'add', 'set', 'init', 'remove', 'drop'],
      },
      {
        name: '[NAME]',
        isOptional: true,
        completes: 'remote',
        completesAfter: ['set', 'init', 'remove', 'drop'],
      },
      { name: '[URL|SESSION…]', isOptional: true, isRepeated: true },
    ],
    options: [
      text('key-file F', 'Encrypt everything with the key in F', { completes: 'files' }),
      flag('plain', 'Encrypt nothing'),
      text('schema S', 'The PostgreSQL schema of the tables (default savestate)'),
      flag('auto-push', 'The daemon pushes after each turn, if you have pushed from the project'),
      flag('no-auto-push', 'With set: the daemon no longer pushes'),
      flag('print-sql', 'With init: print the SQL for an administrator, and do nothing'),
      text(
        'role R',
        'With --print-sql: the role that Savestate logs in as, to grant it its rights',
        {
          needs: 'print-sql',
        },
      ),
      flag('take', 'With drop: also sessions that another machine has'),
      DRY_RUN,
      YES,
    ],
    exclusive: [
      ['key-file', 'plain'],
      ['auto-push', 'no-auto-push'],
    ],
    examples: [
      [
        'savestate remote add team postgres://db.example.org/ai --key-file ~/team.key',
        'Share through a database',
      ],
      ['savestate remote add mine git@host:sessions.git --key-file ~/key', 'Or through git'],
      ['savestate remote init team', 'Create its tables'],
      ['savestate remote drop team fix-login', 'Delete a session there'],
    ],
  },
  push: {
    usage: 'push [SESSION…] [--remote NAME] [--all]',
    summary: 'Send sessions and checkpoints to a remote',
    details: [
      'Without SESSION, it sends the sessions of this project, and its checkpoints that belong to none. Only what the remote lacks is sent. The session stays yours to continue, on PostgreSQL for 12 hours after the last push, in a git repository until another machine takes it: use `savestate handoff` to give it up.',
    ],
    page: PAGE,
    positionals: [{ ...SESSION, isRepeated: true }],
    options: [REMOTE, flag('all', 'Everything in the store')],
    examples: [
      ['savestate push', 'This project'],
      ['savestate push --all', 'Everything, as a backup'],
    ],
  },
  pull: {
    usage: 'pull [SESSION] [--remote NAME] [--into DIR] [--take] [--all] [--dry-run] [-y]',
    summary: 'Get sessions and checkpoints from a remote',
    details: [
      'Without SESSION, it gets what is new in the sessions and projects that both have. Clones of one repository are one project, wherever they are: a session is attached to the project of the current folder if its origin is the same. Your folder is changed only with --into.',
      'With --into, the newest files of the session are restored into DIR by a plan, as `savestate rewind` does: it is shown first, and `savestate undo` takes it back.',
      'If both sides have continued, nothing is merged and nothing is lost: your unshared steps become a session of their own, and the message names it.',
    ],
    page: PAGE,
    positionals: [SESSION],
    options: [
      REMOTE,
      text('into DIR', 'Restore the newest files into DIR', { completes: 'folders' }),
      flag('take', 'Continue it here, although another machine has it'),
      flag('all', 'Everything that the remote has'),
      { ...DRY_RUN, needs: 'into' },
      YES,
    ],
    exclusive: [
      ['all', 'into'],
      ['all', 'take'],
      ['take', 'dry-run'],
    ],
    examples: [
      ['savestate pull fix-login', 'The conversation, the states and the history'],
      ['savestate pull fix-login --into .', 'The same, and its files into this folder'],
      ['savestate pull --all', 'Everything, for example into an empty store'],
    ],
  },
  handoff: {
    summary: 'Push a session, and let another machine continue it',
    details: ['Without SESSION, it is the last used session of this project.'],
    page: PAGE,
    positionals: [SESSION],
    options: [REMOTE],
    examples: [['savestate handoff', 'Then on the other machine: savestate pull SESSION']],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
