// The half of `rewind --both` that concerns a coding agent: the conversation up to the checkpoint, and how it goes on.
import { spawn } from 'node:child_process'
import type { Conversation } from '../adapters/index.js'
import { SavestateError } from '../index.js'
import type { Request } from './command.js'
import { EXIT, hasCode } from './exit.js'
import { namedCheckpoint } from './named-checkpoint.js'
import { printableLine } from './printable.js'
import { commandLine } from './shell-quoted.js'

export function refuseIdleContinue({ options, isJson }: Request): void {
  if (!options.has('continue') || !isJson) return
  throw new SavestateError('BAD_INPUT', '--continue needs a person to talk to, so --json is out', {
    hint: 'Leave it out, and run the command that is printed under `conversation`.',
  })
}

/** Undefined for a checkpoint that no coding agent's hook has made. */
export async function planTalk(request: Request) {
  const { conversations } = await import('../adapters/index.js')
  const { agentCheckpoint, planConversation } = await conversations()
  const checkpoint = agentCheckpoint(await namedCheckpoint(request))
  if (checkpoint === undefined) return undefined
  const folder = (await request.project()).path
  return planConversation(await request.store(), checkpoint, folder)
}

export function conversationText(conversation: Conversation, { options }: Request): string {
  const { agent, way, command } = conversation
  if (way === 'none')
    return `The conversation stays as it is: ${agent} has no way to go on from an earlier point of it. \`savestate resume\` has a brief for a new one.`
  const point = pointText(conversation)
  if (options.has('dry-run')) return `The conversation would go back too: ${point}.`
  if (options.has('continue')) return `The conversation goes on as it was ${point}.`
  const words = commandLine(command ?? [])
  return way === 'new'
    ? `Nothing was said before. Begin anew with: ${words}`
    : `Go on with the conversation as it was ${point}:\n  ${words}`
}

function pointText({ kind, prompt, tool }: Conversation): string {
  if (kind === 'before-turn')
    return prompt === null ? 'before the prompt' : `before you asked: ${printableLine(prompt)}`
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
    throw new SavestateError('BAD_INPUT', 'There is no conversation that could go on', {
      hint: 'The files are back. `savestate resume` has a brief for a new conversation.',
    })
  }
  const cwd = (await request.project()).path
  // The agent's hooks open it themselves.
  await (await request.store()).close()
  const ignore = () => undefined
  // Ctrl-C belongs to the agent while it is there.
  const interrupts = process.listeners('SIGINT')
  process.removeAllListeners('SIGINT').on('SIGINT', ignore)
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd, stdio: 'inherit' })
      child.on('error', (error) => reject(hasCode(error, 'ENOENT') ? notFound(program) : error))
      child.on('exit', (code) => resolve(code ?? EXIT.failed))
    })
  } finally {
    process.removeListener('SIGINT', ignore)
    for (const listener of interrupts) process.on('SIGINT', listener)
  }
}

function notFound(program: string): SavestateError {
  return new SavestateError('BAD_INPUT', `${program} is not on your PATH`, {
    hint: 'The files are back, and the conversation is ready. `savestate rewind` without --continue prints the command.',
  })
}
