// `savestate undo` and `savestate redo`: the same command in two directions.
import { type Command, command } from '../runtime/command.js'
import { confirmOn } from '../runtime/confirm.js'
import { originalText, type Undone, addContinueCommand } from './original-conversation.js'
import { withRepeatHint } from './repeat-hint.js'
import { restoreExitCode, restoreText } from './restore-text.js'
import { programFor } from '../terminal/shell-quote.js'
import { repeatQuestion, rewindText } from './target-text.js'

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
