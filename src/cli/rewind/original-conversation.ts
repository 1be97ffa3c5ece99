// After an undo of a rewind with --both: how to continue the original conversation. After a redo: how to go back in it
// again.
import type { RewindResult } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { commandLine, programFor } from '../terminal/shell-quote.js'

export type Undone = Omit<RewindResult, 'conversation'> & {
  /** With the command that continues it; null if the agent has none. */
  readonly conversation?: {
    readonly agent: string
    readonly session: string
    readonly command: readonly string[] | null
  }
}

export async function addContinueCommand(result: RewindResult): Promise<Undone> {
  const { conversation, ...undone } = result
  if (conversation === undefined) return undone
  const { continueCommand } = await import('../../agents/index.js')
  return { ...undone, conversation: { ...conversation, command: continueCommand(conversation) } }
}

/** Empty if the rewind did not include a conversation. */
export function originalText({ conversation, to, declined }: Undone, request: Request): string {
  if (conversation === undefined || declined) return ''
  if (request.command === 'redo') {
    if (to === null) return ''
    return `Go back in the conversation too: ${programFor(request.options)} rewind ${to.id} --conversation`
  }
  const { agent, session, command } = conversation
  return command === null
    ? `The original conversation is session ${session} of ${agent}.`
    : `Continue the original conversation:\n  ${commandLine(command)}`
}
