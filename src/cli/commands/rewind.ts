import type { SessionRewindResult } from '../../index.js'
import { type Command, command, type Request } from '../command.js'
import { confirmOn } from '../confirm.js'
import { EXIT } from '../exit.js'
import { namedCheckpoint } from '../named-checkpoint.js'
import { printableLine } from '../printable.js'
import { projectPaths } from '../project-path.js'
import { restoreExitCode, restoreText } from '../restore-text.js'
import { rewindSession, type SessionRewind, sessionRewindText } from '../rewind-session.js'
import { shortIdOf } from '../short-id.js'

type Rewound = SessionRewind | { readonly result: SessionRewindResult; readonly session: null }

export const run: Command = async (request) => {
  if (request.positionals.length > 0) return rewind(request)
  const { pickCheckpoint } = await import('../picker/pick-checkpoint.js')
  const picked = await pickCheckpoint(request)
  if (picked !== undefined) return rewind(picked)
  request.screen.print('Nothing has been changed.')
  return EXIT.declined
}

const rewind = command({
  async call(request): Promise<Rewound> {
    if (request.options.has('both')) return rewindSession(request, 'both')
    if (request.options.has('state')) return rewindSession(request, 'state')
    return { result: await rewindFiles(request), session: null }
  },
  json: ({ result }) => result,
  render: (rewound, request) =>
    rewound.session === null
      ? filesText(rewound.result, request)
      : sessionRewindText(rewound, request),
  exitCode: ({ result }) => restoreExitCode(result),
})

async function rewindFiles(request: Request): Promise<SessionRewindResult> {
  const { options, hooks } = request
  const project = await request.project()
  const result = await project.rewind(
    {
      to: options.has('of') ? (await namedCheckpoint(request)).id : request.argument(0),
      paths: await projectPaths(request, options.texts('path')),
      dryRun: options.has('dry-run'),
    },
    { ...hooks, confirm: confirmOn(request, 'Go back?') },
  )
  return { ...result, restored: 'files' }
}

async function filesText(result: SessionRewindResult, request: Request): Promise<string> {
  const what = request.options.has('path') ? 'what you named' : 'the folder'
  const ref = request.argument(0)
  // The rewind adds checkpoints, so a number would mean another one by now; and nobody types a whole id.
  const shown =
    /^[0-9]+$/.test(ref) || ref === result.target
      ? await shortIdOf(await request.project(), result.target)
      : printableLine(ref)
  return restoreText(result, request, {
    done: `Rewound to ${shown}`,
    nothing: `${what} is as it was at ${shown}`,
    next: 'Undo with: savestate undo',
  })
}
