import { command } from '../command.js'
import { confirmOn } from '../confirm.js'
import { originalText, type Undone, withOriginal } from '../original-conversation.js'
import { withRepeatHint } from '../repeat-hint.js'
import { restoreExitCode, restoreText } from '../restore-text.js'
import { programFor } from '../shell-quoted.js'
import { repeatQuestion, rewindText } from '../target-text.js'

export const run = command<Undone>({
  async call(request) {
    const { options, hooks } = request
    const project = await request.project()
    const undoNow = () =>
      project.undo(
        { dryRun: options.has('dry-run') },
        {
          ...hooks,
          confirm: confirmOn(request, {
            question: (facts) => repeatQuestion(request, { verb: 'Undo', facts }),
          }),
        },
      )
    return withOriginal(await withRepeatHint(request, ['undo'], undoNow))
  },
  async render(result, request) {
    const text = restoreText(result, request, {
      done: `Undid ${await rewindText(request, result)}`,
      nothing: 'the folder is as it was before the rewind',
      next: `Redo with: ${programFor(request.options)} redo`,
    })
    return [text, originalText(result, request)].filter((part) => part !== '').join('\n')
  },
  exitCode: restoreExitCode,
})
