// The part of `rewind` for coding agents: the conversation up to the checkpoint, and the command that continues it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hasCode } from '../../base/index.js'
import { type AgentConversationPlan, type Conversation, describePoint } from '../../agents/index.js'
import { type CheckpointView, SavestateError } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { EXIT, ignoreInterrupts } from '../runtime/exit.js'
import { detailsOf } from '../runtime/checkpoint-argument.js'
import { printableLine } from '../terminal/escape.js'
import { commandLine, programFor } from '../terminal/shell-quote.js'
import { usageOf } from '../args/commands-table.js'

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
): Promise<AgentConversationPlan | undefined> {
  const { conversations } = await import('../../agents/index.js')
  const { planAtCheckpoint } = await conversations()
  const before = request.options.has('before')
  const folder = (await request.project()).path
  const details = await detailsOf(request, named)
  return planAtCheckpoint(await request.store(), details, { before, folder })
}

/** For a rewind of only the conversation: fails if the conversation cannot go back. */
export function refuseNoWay(
  request: Request,
  { checkpoint, outline }: AgentConversationPlan,
): void {
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
    : `The conversation goes back too: ${describePoint(outline, printableLine)}.`
}

export function conversationText(conversation: Conversation, { options }: Request): string {
  const { way, command } = conversation
  if (way === 'none') return stayText(conversation)
  const point = describePoint(conversation, printableLine)
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
