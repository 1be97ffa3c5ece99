import { isPromptReason } from '../../base/index.js'
import { type CheckpointView, SavestateError, type SessionRewindResult } from '../../index.js'
import type { AgentConversationPlan, Conversation } from '../../agents/index.js'
import { type Command, command, type Request } from '../runtime/command.js'
import { confirmOn } from '../runtime/confirm.js'
import { EXIT } from '../runtime/exit.js'
import {
  continueConversation,
  conversationRemark,
  conversationText,
  planAgentConversation,
  refuseIdleContinue,
  refuseNoWay,
} from '../rewind/rewind-conversation.js'
import { folderOf } from '../runtime/open-session.js'
import { mineInPlan, NO_OWN_CHANGES } from '../rewind/own-changes.js'
import { findTarget } from '../runtime/checkpoint-argument.js'
import { printableLine } from '../terminal/escape.js'
import { projectPaths } from '../runtime/path-arguments.js'
import { withRepeatHint } from '../rewind/repeat-hint.js'
import { rewindSession, type SessionRewind, sessionRewindText } from '../rewind/rewind-session.js'
import { commandLine, programFor } from '../terminal/shell-quote.js'
import { shortIdOf } from '../terminal/short-id.js'
import {
  type BeforeCall,
  beforeText,
  goalText,
  goBackQuestion,
  restoreExitCode,
  restoreText,
  targetText,
} from '../rewind/restore-text.js'

type Rewound =
  | SessionRewind
  | {
      readonly result: Omit<SessionRewindResult, 'restored'> & {
        readonly restored: SessionRewindResult['restored'] | 'conversation'
      }
      readonly session: null
      /** For a checkpoint of a coding agent. */
      readonly conversation?: Conversation | undefined
      /** The tool call that --before goes to just before. */
      readonly call?: BeforeCall
      /** Why --before changes nothing. */
      readonly remark?: string | undefined
      /** For a dry run: the paths that the user has changed since. */
      readonly mine?: ReadonlySet<string> | undefined
    }
type RewoundFiles = Exclude<Rewound, SessionRewind>

export const run: Command = async (request) => {
  if (request.options.has('last-green')) return rewindOnce(await atLastGreen(request))
  if (request.positionals.length > 0) return rewindOnce(request)
  if (request.options.has('patch'))
    throw new SavestateError('BAD_INPUT', '--patch needs a checkpoint', {
      hint: '`savestate list` shows them.',
    })
  const { pickCheckpoint } = await import('../picker/pick-checkpoint.js')
  const picked = await pickCheckpoint(request)
  if (picked !== undefined) return rewindOnce(picked)
  request.screen.print('Nothing has been changed.')
  return EXIT.declined
}

async function atLastGreen(request: Request): Promise<Request> {
  if (request.positionals.length > 0)
    throw new SavestateError('BAD_INPUT', 'Name a checkpoint or use --last-green, not both')
  const { id } = await (await request.project()).lastGreen(request.hooks)
  return { ...request, positionals: [id], argument: () => id }
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
  const continues = request.options.has('continue') && rewound?.result.declined === false
  return continues ? continueConversation(request, conversationOf(rewound)) : code
}

async function rewind(request: Request): Promise<Rewound> {
  const { options } = request
  const named = await withRepeatHint(request, ['rewind'], () => findTarget(request))
  if (options.has('state') || options.has('conversation')) return rewindConversation(request, named)
  if (!options.has('both')) return rewindFiles(request, named)
  const planned = await planAgentConversation(request, named)
  if (planned === undefined)
    return withRepeatHint(request, ['rewind', named.id], () =>
      rewindSession(request, { restore: 'both', target: named }),
    )
  const rewound = await rewindFiles(request, named, planned)
  if (planned.outline.way === 'none') return { ...rewound, conversation: planned.outline }
  const isLeft = options.has('dry-run') || rewound.result.declined
  const conversation = isLeft ? planned.outline : writeConversation(request, { planned, named })
  return { ...rewound, result: { ...rewound.result, restored: 'both' }, conversation }
}

/** Restores the state of an SDK session, or copies the conversation of a coding agent. Changes no file. */
async function rewindConversation(request: Request, named: CheckpointView): Promise<Rewound> {
  const planned = await planAgentConversation(request, named)
  if (planned === undefined) return rewindSession(request, { restore: 'state', target: named })
  refuseNoWay(request, planned)
  const isDry = request.options.has('dry-run')
  const conversation = isDry ? planned.outline : planned.write()
  return {
    result: {
      to: null,
      target: named.id as SessionRewindResult['target'],
      plan: { write: [], remove: [], keep: [], conflict: [] },
      applied: !isDry,
      declined: false,
      safety: null,
      checkpoint: null,
      restored: 'conversation',
    },
    session: null,
    conversation,
  }
}

/** The files are restored already, so an error must say so. It names the id: the rewind has shifted the numbers. */
function writeConversation(
  { options }: Request,
  { planned, named }: { readonly planned: AgentConversationPlan; readonly named: CheckpointView },
): Conversation {
  try {
    return planned.write()
  } catch (error) {
    if (!(error instanceof SavestateError)) throw error
    const program = programFor(options)
    const before = options.has('before') ? ' --before' : ''
    const hint = [
      `The files were restored, but the conversation was not. To undo that: ${program} undo`,
      `Try the conversation again with: ${program} rewind ${named.id}${before} --conversation`,
      // The hint of a system error would repeat the same command.
      ...(error.hint === null || SYSTEM_CODES.includes(error.code) ? [] : [error.hint]),
    ].join('\n')
    throw new SavestateError(error.code, error.message, { hint, cause: error })
  }
}

const SYSTEM_CODES: readonly string[] = ['DISK_FULL', 'FILE_FAILED']

async function rewoundText(rewound: Rewound, request: Request): Promise<string> {
  if (rewound.session !== null) return sessionRewindText(rewound, request)
  const { result, conversation } = rewound
  const said = conversation === undefined ? '' : conversationText(conversation, request)
  if (result.restored === 'conversation') {
    const end = request.options.has('dry-run') ? 'A dry run: nothing' : 'No file'
    return `${said}\n${end} has been changed.`
  }
  const files = await filesText(rewound, request)
  return conversation === undefined || result.declined ? files : `${files}\n${said}`
}

function conversationOf(rewound: Rewound | undefined): Conversation | undefined {
  return rewound !== undefined && 'conversation' in rewound ? rewound.conversation : undefined
}

async function rewindFiles(
  request: Request,
  named: CheckpointView,
  planned?: AgentConversationPlan,
): Promise<RewoundFiles> {
  const { options, hooks } = request
  const project = await request.project()
  await refuseOtherProject(request, project.path)
  if (options.has('patch')) {
    const { rewindPatch } = await import('../rewind/rewind-patch.js')
    const result = await rewindPatch(request, named)
    return { result: { ...result, restored: 'files' }, session: null }
  }
  const before = options.has('before')
  const isBefore = named.moment === 'before'
  const call = before && !isBefore ? named : undefined
  const row = isPromptReason(named.reason) ? "A prompt's row" : 'The row of this call'
  const remark = before && isBefore ? `${row} is already the folder before it.` : undefined
  const included = planned?.outline.way === 'none' ? undefined : planned?.checkpoint
  const mineNow = () => mineInPlan(request, { to: named.id, before })
  const mine = options.has('dry-run') ? await mineNow() : undefined
  let isKept = options.has('keep-mine')
  const rewindNow = async () =>
    project.rewind(named.id, {
      before,
      paths: await projectPaths(request, options.texts('path')),
      keepMine: isKept,
      dryRun: options.has('dry-run'),
      ...(included === undefined
        ? {}
        : { conversation: { agent: included.agent, session: included.agentSession } }),
      ...hooks,
      confirm: confirmOn(request, {
        question: (facts) => goBackQuestion(request, facts, call),
        mine: isKept ? nothingLost : mineNow,
        onKeep: () => {
          isKept = true
        },
        remarks: [
          remark ?? [],
          planned === undefined ? [] : conversationRemark(planned.outline),
        ].flat(),
      }),
    })
  const attempt = () => withRepeatHint(request, ['rewind', named.id], rewindNow)
  const wasKept = isKept
  const first = await attempt()
  // The user has seen the plan that overwrites their changes, and chosen the one that keeps them.
  const result = first.declined && isKept !== wasKept ? await attempt() : first
  return { result: { ...result, restored: 'files' }, session: null, call, remark, mine }
}

const nothingLost = async () => NO_OWN_CHANGES.mine

/** With --session, the session may belong to another project. */
async function refuseOtherProject(request: Request, folder: string): Promise<void> {
  const of = request.options.text('session')
  if (of === undefined) return
  const own = await folderOf(await request.store(), of)
  if (own === null || own === folder) return
  const words = ['savestate', '-C', own, 'rewind', request.argument(0), '--session', of]
  throw new SavestateError(
    'BAD_INPUT',
    `The session ${JSON.stringify(of)} belongs to another project`,
    { hint: `Work there: ${commandLine(words)}` },
  )
}

async function filesText(
  { result, call, remark, mine }: RewoundFiles,
  request: Request,
): Promise<string> {
  const what = request.options.has('path') ? 'everything you named' : 'the folder'
  const ref = request.argument(0)
  const { to, target } = result
  // Prefer the name to the id. Not the number: the rewind has shifted the numbers.
  const shown =
    to !== null && to.name === ref ? printableLine(ref) : await shortIdOf(request, target)
  const shownTarget =
    call === undefined
      ? targetText(shown, to, request.screen.now)
      : `${beforeText(call)} (${shown})`
  const text = restoreText(result, request, {
    done: `Rewound to ${shownTarget}`,
    nothing: `${what} is as it was ${call === undefined ? 'at ' : ''}${shownTarget}`,
    next: `Undo with: ${programFor(request.options)} undo`,
    goal: `Would go back${await goalText(request, result, call)}:`,
    ...(mine === undefined ? {} : { mine }),
  })
  return remark === undefined || result.declined ? text : `${remark}\n${text}`
}
