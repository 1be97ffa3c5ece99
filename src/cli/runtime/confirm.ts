// Asks before something is changed or removed: on the terminal, with the plan in view.
import { createInterface } from 'node:readline'
import { type PlanFacts, type RestoreOptions, SavestateError } from '../../index.js'
import type { Request } from './command.js'
import { beforeChanges } from './exit.js'
import { page } from '../terminal/pager.js'
import { notRestoredText, planText, stateText } from '../render/plan-text.js'
import { optionsOf } from '../args/commands-table.js'
import { wrapMessage } from '../terminal/wrap.js'

export type Asker = {
  readonly isTerminal: boolean
  show(text: string): void
  /** In the pager if it is longer than the screen. */
  view(text: string): Promise<void>
  /** The line typed; undefined if the input ended. */
  ask(question: string): Promise<string | undefined>
}

/**
 * For `hooks.confirm`; undefined with --yes, so that plan and rewind are one step. `remarks` are shown above the plan.
 * The callback throws CONFIRMATION_NEEDED without a terminal.
 */
export function confirmOn(
  request: Request,
  {
    question,
    remarks = [],
    mine,
  }: {
    readonly question: (facts: PlanFacts) => Promise<string>
    readonly remarks?: readonly string[]
    /** The paths that the user has changed since the checkpoint, as of now. */
    readonly mine?: () => Promise<ReadonlySet<string>>
  },
): RestoreOptions['confirm'] {
  if (request.options.has('yes')) return undefined
  let isRepeated = false
  return async (plan, facts) => {
    request.bar.erase()
    const shown = [
      ...(isRepeated ? [CHANGED_SINCE] : []),
      ...remarks,
      stateText(facts.session),
      planText(plan, request.screen.paintNote, await mine?.()),
      notRestoredText(facts.notRestored, {
        paint: request.screen.paintNote,
        now: request.screen.now,
      }),
    ]
    const asked = await question(facts)
    const agreed = await beforeChanges(() =>
      isAgreed(shown.filter((text) => text !== '').join('\n'), {
        question: asked,
        asker: terminalAsker(request),
      }),
    )
    isRepeated = true
    // The time the person took is none of the work's.
    request.bar.erase()
    return agreed
  }
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
  /** The command has changed something before it asks this. */
  readonly isAfterChanges?: boolean
}

/** The same for any other plan, as text. */
export async function confirmText(
  request: Request,
  { plan, isAfterChanges = false, ...question }: TextQuestion,
): Promise<boolean> {
  if (request.options.has('yes')) return true
  request.bar.erase()
  const canShow = optionsOf(request.command).some(({ name }) => name === 'dry-run')
  const ask = () => isAgreed(plan, { ...question, asker: terminalAsker(request), canShow })
  return isAfterChanges ? ask() : beforeChanges(ask)
}

/**
 * For a plan that holds no lock while it is shown: it is made again after a yes, and shown again if its text is another
 * one by then. False if the answer is no.
 */
export async function confirmPlan<Plan>(
  request: Request,
  {
    first,
    again,
    text,
    question,
  }: {
    readonly first: Plan
    readonly again: () => Promise<Plan>
    readonly text: (plan: Plan) => string | Promise<string>
    readonly question: string
  },
): Promise<boolean> {
  if (request.options.has('yes')) return true
  for (let plan = await text(first), remark = ''; ; remark = `${CHANGED_SINCE}\n`) {
    if (!(await confirmText(request, { plan: `${remark}${plan}`, question }))) return false
    const now = await text(await again())
    if (now === plan) return true
    plan = now
  }
}

export async function isAgreed(
  plan: string,
  {
    question,
    details,
    asker,
    canShow = true,
  }: Question & { readonly asker: Asker; readonly canShow?: boolean },
): Promise<boolean> {
  if (!asker.isTerminal) {
    throw new SavestateError(
      'CONFIRMATION_NEEDED',
      'This needs a yes, and there is no terminal to ask on',
      {
        hint: `Add --yes to do it${canShow ? ', or --dry-run to see what it would do' : ''}. Nothing has been changed.`,
      },
    )
  }
  asker.show(plan)
  for (;;) {
    const choices = details === undefined ? '[y/N]' : '[y/N, v to view]'
    const answer = (await asker.ask(`${question} ${choices} `))?.trim() ?? ''
    if (details === undefined || !/^v(iew)?$/i.test(answer)) return /^y(es)?$/i.test(answer)
    await asker.view(details)
  }
}

export function terminalAsker({ screen }: Request): Asker {
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
        // Not as a terminal: line editing would take Ctrl-C away from us.
        const lines = createInterface({ input: stdin, terminal: false })
        let answer: string | undefined
        lines.once('line', (line) => {
          answer = line
          lines.close()
        })
        lines.once('close', () => {
          // Ctrl-D leaves the cursor behind the question.
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
