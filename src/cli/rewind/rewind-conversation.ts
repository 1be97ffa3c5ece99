// The part of `rewind` for coding agents: the conversation up to the checkpoint, and the command that continues it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hasCode } from '../../base/index.js'
import type { AgentCheckpoint, Conversation } from '../../agents/index.js'
import { type CheckpointView, SavestateError } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { EXIT, ignoreInterrupts } from '../runtime/exit.js'
import { detailsOf } from '../runtime/checkpoint-argument.js'
import { printableLine } from '../terminal/escape.js'
import { commandLine, programFor } from '../terminal/shell-quote.js'
import { usageOf } from '../args/commands-table.js'

export type ConversationPlan = {
  /** The checkpoint that the user named, even with --before. */
  readonly checkpoint: AgentCheckpoint
  readonly outline: Conversation
  write(): Conversation
}

export function refuseIdleContinue({ options, isJson }: Request): void {
  if (!options.has('continue')) return
  if (!['both', 'conversation', 'state'].some((name) => options.has(name))) {
    throw new SavestateError('BAD_INPUT', '--continue needs --both or --conversation too', {
      hint: `Usage: ${usageOf('rewind')}`,
    })
  }
  if (!isJson) return
  throw new SavestateError(
    'BAD_INPUT',
    '--continue runs the agent on your terminal, so it cannot be combined with --json',
    { hint: 'Omit --continue, and run the command in the field `conversation`.' },
  )
}

/** Undefined for a checkpoint that no coding agent's hook has made. Writes nothing yet. */
export async function planAgentConversation(
  request: Request,
  named: CheckpointView,
): Promise<ConversationPlan | undefined> {
  const { conversations } = await import('../../agents/index.js')
  const { agentCheckpoint, planConversation, pointBefore } = await conversations()
  const checkpoint = agentCheckpoint(await detailsOf(request, named))
  if (checkpoint === undefined) return undefined
  const store = await request.store()
  const point = request.options.has('before')
    ? await pointBefore(store, checkpoint, named.moment)
    : checkpoint
  const folder = (await request.project()).path
  return { checkpoint, ...(await planConversation(store, point, folder)) }
}

/** For a rewind of only the conversation: fails if the conversation cannot go back. */
export function refuseNoWay(request: Request, { checkpoint, outline }: ConversationPlan): void {
  if (outline.way !== 'none') return
  const program = programFor(request.options)
  throw new SavestateError(
    'CHECKPOINT_PARTIAL',
    `The conversation cannot go back to ${checkpoint.id}: ${outline.problem}`,
    {
      hint: `Nothing was changed. Bring back the files: ${program} rewind ${checkpoint.id}\nFor a new conversation, print a brief: ${commandLine([...program.split(' '), 'resume', checkpoint.session])}`,
    },
  )
}

/** Shown above the question. */
export function conversationRemark(outline: Conversation): string {
  return outline.way === 'none'
    ? `Only the files go back. ${stayText(outline)}`
    : `The conversation goes back too: ${pointText(outline)}.`
}

export function conversationText(conversation: Conversation, { options }: Request): string {
  const { way, command } = conversation
  if (way === 'none') return stayText(conversation)
  const point = pointText(conversation)
  if (options.has('dry-run')) return `The conversation would go back: ${point}.`
  if (options.has('continue')) return `The conversation continues as it was ${point}.`
  const words = commandLine(command ?? [])
  return way === 'new'
    ? `Nothing was said before that. Start a new conversation: ${words}`
    : `Continue the conversation as it was ${point}:\n  ${words}`
}

function stayText({ problem }: Conversation): string {
  return `The conversation stays as it is: ${problem}. \`savestate resume\` prints a brief for a new one.`
}

function pointText({ kind, prompt, tool }: Conversation): string {
  if (kind === 'before-turn')
    return prompt === null ? 'before the prompt' : `before you asked "${printableLine(prompt)}"`
  if (kind === 'then') return 'then'
  const when = kind === 'before-call' ? 'before' : 'after'
  return tool === null ? `${when} the call` : `${when} ${printableLine(tool)}`
}

/** The exit code is the agent's. */
export async function continueConversation(
  request: Request,
  conversation: Conversation | undefined,
): Promise<number> {
  const [program, ...args] = conversation?.command ?? []
  if (program === undefined) {
    throw new SavestateError('BAD_INPUT', 'There is no conversation to continue', {
      hint: 'The files were restored. `savestate resume` prints a brief for a new conversation.',
    })
  }
  const cwd = (await request.project()).path
  // The hooks of the agent open the store themselves.
  await (await request.store()).close()
  const child = spawn(program, args, { cwd, stdio: 'inherit' })
  try {
    const [code] = await ignoreInterrupts(() => once(child, 'exit'))
    return code ?? EXIT.failed
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new SavestateError('BAD_INPUT', `${program} is not on your PATH`, {
      hint: 'The conversation is ready: `savestate rewind` without --continue prints the command.',
      cause: error,
    })
  }
}
