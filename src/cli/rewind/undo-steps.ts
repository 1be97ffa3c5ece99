// `savestate undo <ref>…`: takes back what single checkpoints changed.
import { HAS_MARKERS, KEPT_IN_MERGE, type RewindResult } from '../../internal.js'
import { command, type Request } from '../runtime/command.js'
import { confirmOn } from '../runtime/confirm.js'
import { displayPath } from '../terminal/escape.js'
import { programFor } from '../terminal/shell-quote.js'
import { withRepeatHint } from './repeat-hint.js'
import { keptText, restoreExitCode, restoreText, stepsQuestion, stepsText } from './restore-text.js'

type Choice = 'refuse' | 'ours' | 'theirs' | 'markers'

export const undoSteps = command<RewindResult>({
  async call(request) {
    const { options, hooks, positionals } = request
    const project = await request.project()
    const confirm = confirmOn(request, { question: (context) => stepsQuestion(request, context) })
    return withRepeatHint(request, undefined, () =>
      project.undoSteps(positionals, {
        conflict: choiceOf(request),
        dryRun: options.has('dry-run'),
        ...hooks,
        confirm,
      }),
    )
  },
  async render(result, request) {
    const what = await stepsText(request, result)
    const text = restoreText(result, request, {
      done: `Undid ${what}`,
      nothing: `nothing that ${what} changed is left`,
      next: `Undo with: ${programFor(request.options)} undo`,
      goal: `Would undo ${what}:`,
    })
    return [text, decidedText(result, request)].filter((part) => part !== '').join('\n')
  },
  exitCode: restoreExitCode,
})

function choiceOf({ options }: Request): Choice {
  if (options.has('ours')) return 'ours'
  if (options.has('theirs')) return 'theirs'
  return (options.text('conflict') ?? 'refuse') as Choice
}

/** The files that were not merged, and those that the user has to edit. */
function decidedText({ plan, applied }: RewindResult, { screen }: Request): string {
  if (!applied) return ''
  const kept = plan.keep.filter(({ reason }) => reason?.startsWith(KEPT_IN_MERGE) === true)
  const marked = plan.write.filter(({ reason }) => reason === HAS_MARKERS)
  const lines = marked.map(({ path }) => `  ${displayPath(path)}`)
  return [
    ...(kept.length === 0 ? [] : [keptText(kept, screen.paint).trimStart()]),
    ...(lines.length === 0 ? [] : ['These files have conflict markers now. Edit them:', ...lines]),
  ].join('\n')
}
