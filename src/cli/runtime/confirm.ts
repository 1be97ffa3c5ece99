// Asks on the terminal before something is changed or removed, and shows the plan.
import { createInterface } from 'node:readline'
import { type PlanDetails, type RestoreOptions, SavestateError } from '../../index.js'
import type { Request } from './command.js'
import { beforeChanges } from './exit.js'
import { page } from '../terminal/pager.js'
import { formatCount } from '../terminal/format-numbers.js'
import { notRestoredText, outsideText, planText, stateText } from '../render/plan-text.js'
import { consentOf } from '../hook/prompt-consent.js'
import { optionsOf } from '../args/commands-table.js'
import { wrapMessage } from '../terminal/wrap.js'

type Prompter = {
  readonly isTerminal: boolean
  show(text: string): void
  /** Uses the pager if the text is longer than the screen. */
  view(text: string): Promise<void>
  /** Returns the line that the user typed; undefined if the input ended. */
  ask(question: string): Promise<string | undefined>
}

/**
 * Returns `hooks.confirm`; undefined with --yes, so that plan and rewind are one step. `remarks` are shown above the
 * plan. The callback throws CONFIRMATION_NEEDED without a terminal.
 */
export function confirmOn(
  request: Request,
  prompt: {
    readonly question: (context: PlanDetails) => Promise<string>
    readonly remarks?: readonly string[]
    /** The paths that the user has changed since the checkpoint, as of now. */
    readonly mine?: () => Promise<ReadonlySet<string>>
    /** Called if the user chooses to keep these paths. The plan is then declined, for another one that keeps them. */
    readonly onKeep?: () => void
  },
): RestoreOptions['confirm'] {
  const { paintNote: paint, now } = request.screen
  if (request.options.has('yes')) return undefined
  if (request.typed !== undefined) return consentOf(request, request.typed)
  let isRepeated = false
  return async (plan, context) => {
    request.bar.erase()
    const mine = (await prompt.mine?.()) ?? new Set()
    const shown = [
      ...(isRepeated ? [CHANGED_SINCE] : []),
      ...(prompt.remarks ?? []),
      stateText(context.session),
      planText(plan, paint, mine),
      notRestoredText(context.notRestored, { paint, now }),
      outsideText(context.outside, { paint, now }),
    ]
    const question = await prompt.question(context)
    const text = shown.filter((part) => part !== '').join('\n')
    const prompter = terminalPrompter(request)
    const lost = [...plan.write, ...plan.remove].filter(({ path }) => mine.has(path)).length
    const agreed = await beforeChanges(() =>
      lost > 0 && prompt.onKeep !== undefined && prompter.isTerminal
        ? askToKeep(text, { question, lost, onKeep: prompt.onKeep, prompter })
        : askYesNo(text, { question, prompter }),
    )
    isRepeated = true
    // Restarts the clock of the progress bar: the time to answer is no progress.
    request.bar.erase()
    return agreed
  }
}

/** Asks whether a rewind may overwrite what the user has changed since its target. Everything but a clear answer stops it. */
async function askToKeep(
  plan: string,
  {
    question,
    lost,
    onKeep,
    prompter,
  }: {
    readonly question: string
    readonly lost: number
    readonly onKeep: () => void
    readonly prompter: Prompter
  },
): Promise<boolean> {
  prompter.show(plan)
  prompter.show(
    `This would overwrite or remove ${formatCount(lost, 'path')} that you changed since then: keep your changes (k), go on (o), or stop (s)?`,
  )
  const answer = (await prompter.ask(`${question} [k/o/S] `))?.trim() ?? ''
  if (/^k(eep)?$/i.test(answer)) onKeep()
  return /^o(verwrite)?$/i.test(answer)
}

const CHANGED_SINCE =
  'Nothing has been done yet: something has changed since you were asked, and this is the plan now.'

type Question = {
  readonly question: string
  /** Shown if the user types `v`. */
  readonly details?: string | undefined
}

type TextQuestion = Question & {
  readonly plan: string
  /** The command has already changed something. */
  readonly isAfterChanges?: boolean
}

/** Asks about a plan that is text. */
export async function confirmText(
  request: Request,
  { plan, isAfterChanges = false, ...question }: TextQuestion,
): Promise<boolean> {
  if (request.options.has('yes')) return true
  request.bar.erase()
  const canShow = optionsOf(request.command).some(({ name }) => name === 'dry-run')
  const prompter = terminalPrompter(request)
  const ask = () => askYesNo(plan, { ...question, prompter, canShow })
  return isAfterChanges ? ask() : beforeChanges(ask)
}

/**
 * Asks about a plan that holds no lock while it is shown. After a yes the plan is made again, and if its text has changed,
 * shown again.
 */
export async function confirmPlan<Plan>(
  request: Request,
  prompt: {
    readonly first: Plan
    readonly again: () => Promise<Plan>
    readonly text: (plan: Plan) => string | Promise<string>
    readonly question: string
  },
): Promise<boolean> {
  const { first, again, text, question } = prompt
  if (request.options.has('yes')) return true
  for (let plan = await text(first), remark = ''; ; remark = `${CHANGED_SINCE}\n`) {
    if (!(await confirmText(request, { plan: `${remark}${plan}`, question }))) return false
    const now = await text(await again())
    if (now === plan) return true
    plan = now
  }
}

export async function askYesNo(
  plan: string,
  question: Question & { readonly prompter: Prompter; readonly canShow?: boolean },
): Promise<boolean> {
  const { details, prompter, canShow = true } = question
  if (!prompter.isTerminal) {
    const preview = canShow ? ', or --dry-run to see what it would do' : ''
    throw new SavestateError(
      'CONFIRMATION_NEEDED',
      'This needs a yes, and there is no terminal to ask on',
      { hint: `Add --yes to do it${preview}. Nothing has been changed.` },
    )
  }
  prompter.show(plan)
  for (;;) {
    const choices = details === undefined ? '[y/N]' : '[y/N, v to view]'
    const answer = (await prompter.ask(`${question.question} ${choices} `))?.trim() ?? ''
    if (details === undefined || !/^v(iew)?$/i.test(answer)) return /^y(es)?$/i.test(answer)
    await prompter.view(details)
  }
}

/** Asks on the terminal, if there is one. */
export function terminalPrompter({ screen }: Pick<Request, 'screen'>): Prompter {
  const { stdin, stderr } = process
  return {
    isTerminal: stdin.isTTY === true && stderr.isTTY === true,
    show: (text) => screen.note(text),
    async view(text) {
      const columns = stderr.columns || Infinity
      const rows = text.split('\n').map((line) => Math.max(1, Math.ceil(line.length / columns)))
      const isLong = rows.reduce((sum, one) => sum + one, 0) >= (stderr.rows || Infinity)
      if (isLong && process.stdout.isTTY) await page(text, screen)
      else screen.note(text)
    },
    ask: (question) =>
      new Promise((resolve) => {
        // Not as a terminal: line editing would swallow Ctrl-C.
        const lines = createInterface({ input: stdin, terminal: false })
        let answer: string | undefined
        lines.once('line', (line) => {
          answer = line
          lines.close()
        })
        lines.once('close', () => {
          // After Ctrl-D the cursor is still on the line of the question.
          if (answer === undefined) stderr.write('\n')
          stdin.pause()
          resolve(answer)
        })
        // One column for the answer.
        const width = (stderr.columns || 80) - 1
        stderr.write(`${wrapMessage(question.trimEnd(), width)} `)
      }),
  }
}
