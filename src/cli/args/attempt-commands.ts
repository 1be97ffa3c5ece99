// The commands that work in copies of checkpoints: see docs/guide/history.md.
import {
  type CommandSpec,
  DRY_RUN,
  flag,
  number,
  type OptionSpec,
  REF,
  text,
  YES,
} from './command-spec.js'

const DEPENDENCY_MODES = ['link', 'copy', 'none'] as const

export function dependenciesOption(usual: (typeof DEPENDENCY_MODES)[number]): OptionSpec {
  const summary = `Ignored dependencies, such as node_modules: link, copy or none (default ${usual})`
  return text('deps HOW', summary, { choices: DEPENDENCY_MODES })
}

const OF_DEPENDENCIES =
  '--deps link makes folders such as node_modules with a link to each entry of the one in the project; --deps copy copies them, sharing the contents where the file system can.'

export const ATTEMPT_COMMANDS = {
  open: {
    usage: 'open <ref> [DIR] [--deps link|copy|none]',
    summary: 'Write a checkpoint into another folder',
    details: [
      'DIR is a new or empty folder outside of the project; without it, it is beside the project, with the first letters of the id at the end of its name. The project stays as it is, and DIR becomes a project only if something is saved there.',
      OF_DEPENDENCIES,
      'With --json: { path, checkpoint }.',
    ],
    positionals: [REF, { name: '[DIR]', isOptional: true, completes: 'files' }],
    options: [dependenciesOption('none')],
    examples: [
      ['savestate open 3', 'Look around in an old state'],
      ['savestate open works /tmp/works --deps link', 'Run something there'],
    ],
  },
  compare: {
    summary: 'Compare two attempts: files, lines, tests',
    details: [
      'An attempt is a session, such as one that `savestate fork --into` made, or a checkpoint. For a session with a folder of its own, the folder as it is now counts.',
      'With --json: { a, b, files, insertions, deletions, changes }; `a` and `b` have session, checkpoint, path, files, insertions, deletions, tests and tokens, null if not known.',
    ],
    positionals: [
      { name: '<A>', completes: 'session' },
      { name: '<B>', completes: 'session' },
    ],
    examples: [['savestate compare plan-a plan-b', 'Which attempt is better?']],
  },
  adopt: {
    summary: 'Bring the files of a fork back into this project',
    details: [
      'For a session that `savestate fork <ref> --into DIR` made from this project. Its folder is saved first. The files here become those of that folder, as in a rewind: `savestate undo` takes it back.',
    ],
    positionals: [{ name: '<fork>', completes: 'session' }],
    options: [DRY_RUN, YES],
    examples: [['savestate adopt plan-b', 'Keep the winner']],
  },
  bisect: {
    usage:
      'bisect [--good REF] [--bad REF] [--timeout S] [--retries N] [--deps HOW] [--restart] -- CMD…',
    summary: 'Find the checkpoint that broke something',
    details: [
      'Runs CMD in copies of a few checkpoints, in a folder for temporary files that is new for each run, and finds the first one where CMD fails: exit code 0 is good, 125 means that the checkpoint cannot be tested, any other code is bad. The project is never written to.',
      'CMD must fail at the bad end and succeed at the good one. Without --good, that is the oldest checkpoint; without --bad, the folder as it is now, which is saved first.',
      'A run that fails is repeated (--retries), and the checkpoint is bad only if all runs fail. A run that takes longer than --timeout is ended and counts as failed.',
      'The output of CMD and the progress go to stderr. Results are kept until the answer is known: after Ctrl-C, the same command continues. --restart starts over.',
      OF_DEPENDENCIES,
      'With --json: { checkpoint, prompt, tool, runs }, and `candidates` if skipped checkpoints hide which one it is.',
    ],
    takesCommand: true,
    options: [
      text('good REF', 'A checkpoint where CMD succeeds (default: the oldest)'),
      text('bad REF', 'A later checkpoint where CMD fails (default: the folder now)'),
      number('timeout S', 'End a run after S seconds (default 600)'),
      number('retries N', 'Repeat a run that fails up to N times (default 1)', {
        mayBeZero: true,
      }),
      dependenciesOption('link'),
      flag('restart', 'Forget the results of an interrupted bisect'),
    ],
    examples: [
      ['savestate bisect -- npm test', 'Which step broke the tests?'],
      [
        "savestate bisect --good works -- sh -c 'make && ./app --check'",
        'Since a named checkpoint',
      ],
    ],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>
