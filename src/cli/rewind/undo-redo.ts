// `savestate undo` and `savestate redo`: the same command in two directions.
import type { RewindResult } from '../../index.js'
import { type Command, command, type Request } from '../runtime/command.js'
import { confirmOn } from '../runtime/confirm.js'
import { withRepeatHint } from './repeat-hint.js'
import { repeatQuestion, restoreExitCode, restoreText, rewindText } from './restore-text.js'
import { commandLine, programFor } from '../terminal/shell-quote.js'

type Undone = Omit<RewindResult, 'conversation'> & {
  /** With the command that continues it; null if the agent has none. */
  readonly conversation?: {
    readonly agent: string
    readonly session: string
    readonly command: readonly string[] | null
  }
}

export function undoOrRedo(direction: {
  readonly kind: 'undo' | 'redo'
  /** For the question and for the result. */
  readonly verbs: readonly [present: string, past: string]
  readonly nothing: string
  /** Reverts it. */
  readonly opposite: { readonly kind: 'undo' | 'redo'; readonly verb: string }
}): Command {
  const { kind, verbs, nothing, opposite } = direction
  return command<Undone>({
    async call(request) {
      const { options, hooks } = request
      const project = await request.project()
      const confirm = confirmOn(request, {
        question: (context) => repeatQuestion(request, { verb: verbs[0], context }),
      })
      const work = () => project[kind]({ dryRun: options.has('dry-run'), ...hooks, confirm })
      return addContinueCommand(await withRepeatHint(request, [kind], work))
    },
    async render(result, request) {
      const text = restoreText(result, request, {
        done: `${verbs[1]} ${await rewindText(request, result)}`,
        nothing,
        next: `${opposite.verb} with: ${programFor(request.options)} ${opposite.kind}`,
      })
      return [text, originalText(result, request)].filter((part) => part !== '').join('\n')
    },
    exitCode: restoreExitCode,
  })
}

async function addContinueCommand(result: RewindResult): Promise<Undone> {
  const { conversation, ...undone } = result
  if (conversation === undefined) return undone
  const { continueCommand } = await import('../../agents/index.js')
  return { ...undone, conversation: { ...conversation, command: continueCommand(conversation) } }
}

/** How to continue the original conversation, or after a redo how to go back in it again. Empty if the rewind had none. */
function originalText({ conversation, to, declined }: Undone, request: Request): string {
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
