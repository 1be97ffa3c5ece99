import { SavestateError, type SessionRewindResult } from '../../index.js'
import type { Conversation } from '../../adapters/index.js'
import { type Command, command, type Request } from '../command.js'
import { confirmOn } from '../confirm.js'
import { EXIT } from '../exit.js'
import {
  continueConversation,
  conversationText,
  planTalk,
  refuseIdleContinue,
} from '../rewind-conversation.js'
import { folderOf } from '../known-session.js'
import { namedCheckpoint } from '../named-checkpoint.js'
import { printableLine } from '../printable.js'
import { projectPaths } from '../project-path.js'
import { restoreExitCode, restoreText } from '../restore-text.js'
import { rewindSession, type SessionRewind, sessionRewindText } from '../rewind-session.js'
import { commandLine, programFor } from '../shell-quoted.js'
import { shortIdOf } from '../short-id.js'

type Rewound =
  | SessionRewind
  | {
      readonly result: SessionRewindResult
      readonly session: null
      /** Of the agent whose hook has made the checkpoint. */
      readonly conversation?: Conversation | undefined
    }

export const run: Command = async (request) => {
  if (request.positionals.length > 0) return rewindOnce(request)
  const { pickCheckpoint } = await import('../picker/pick-checkpoint.js')
  const picked = await pickCheckpoint(request)
  if (picked !== undefined) return rewindOnce(picked)
  request.screen.print('Nothing has been changed.')
  return EXIT.declined
}

async function rewindOnce(request: Request): Promise<number> {
  refuseIdleContinue(request)
  let rewound: Rewound | undefined
  const code = await command({
    async call() {
      rewound = await rewind(request)
      return rewound
    },
    json: (done) =>
      'conversation' in done ? { ...done.result, conversation: done.conversation } : done.result,
    render: rewoundText,
    exitCode: ({ result }) => restoreExitCode(result),
  })(request)
  const goesOn = request.options.has('continue') && rewound?.result.declined === false
  return goesOn ? continueConversation(request, talkOf(rewound)) : code
}

async function rewind(request: Request): Promise<Rewound> {
  if (request.options.has('state')) return rewindSession(request, 'state')
  if (!request.options.has('both')) return { result: await rewindFiles(request), session: null }
  const planned = await planTalk(request)
  if (planned === undefined) return rewindSession(request, 'both')
  const files = await rewindFiles(request)
  const isLeft = request.options.has('dry-run') || files.declined
  const conversation = isLeft ? planned.outline : planned.write()
  return { result: { ...files, restored: 'both' }, session: null, conversation }
}

async function rewoundText(rewound: Rewound, request: Request): Promise<string> {
  if (rewound.session !== null) return sessionRewindText(rewound, request)
  const files = await filesText(rewound.result, request)
  const conversation = talkOf(rewound)
  if (conversation === undefined || rewound.result.declined) return files
  return `${files}\n${conversationText(conversation, request)}`
}

function talkOf(rewound: Rewound | undefined): Conversation | undefined {
  return rewound !== undefined && 'conversation' in rewound ? rewound.conversation : undefined
}

async function rewindFiles(request: Request): Promise<SessionRewindResult> {
  const { options, hooks } = request
  const project = await request.project()
  const result = await project.rewind(
    {
      to: await fileTarget(request, project.path),
      paths: await projectPaths(request, options.texts('path')),
      keepMine: options.has('keep-mine'),
      dryRun: options.has('dry-run'),
    },
    { ...hooks, confirm: confirmOn(request, 'Go back?') },
  )
  return { ...result, restored: 'files' }
}

/** With --session the session may be of another project, in which nobody would look for the files of this one. */
async function fileTarget(request: Request, folder: string): Promise<string> {
  const of = request.options.text('session')
  const ref = request.argument(0)
  if (of === undefined) return ref
  const { id } = await namedCheckpoint(request)
  const own = await folderOf(await request.store(), of)
  if (own === null || own === folder) return id
  const words = ['savestate', '-C', own, 'rewind', ref, '--session', of]
  throw new SavestateError(
    'BAD_INPUT',
    `The session ${JSON.stringify(of)} belongs to another project`,
    { hint: `Work there: ${commandLine(words)}` },
  )
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
    next: `Undo with: ${programFor(request.options)} undo`,
  })
}
