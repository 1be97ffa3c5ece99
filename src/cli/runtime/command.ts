// A command calls one operation and reports its result. Printing, JSON and the pager are here, once.
import type { CallOptions, Project, Store } from '../../index.js'
import { EXIT } from './exit.js'
import type { Parsed } from '../args/parse.js'
import type { ProgressBar } from '../terminal/progress-bar.js'
import type { Screen } from '../terminal/screen.js'
import { wrapMessage } from '../terminal/wrap.js'

export type Request = Omit<Parsed, 'fault'> & {
  readonly isJson: boolean
  readonly screen: Screen
  readonly bar: ProgressBar
  readonly hooks: CallOptions
  /** Whether an agent has started this process. */
  readonly isAgent: boolean
  /** The words of a command that the user typed as a prompt of an agent: there is no terminal to ask on. */
  readonly typed?: readonly string[]
  /** `.`, or the missing folder that `-C` names. */
  readonly folder: string
  /** A positional argument that the command table requires. */
  readonly argument: (index: number) => string
  /** Opened once, and closed when the command has ended. */
  readonly store: () => Promise<Store>
  readonly project: () => Promise<Project>
}

export type Command = (request: Request) => Promise<number>

/** The result of a call that the user declined: the plan for `--json`, and what is printed otherwise. */
export class Declined<Result> {
  constructor(
    readonly plan: Result,
    readonly text = 'Nothing has been removed.',
  ) {}
}

export function command<Result>(parts: {
  call(request: Request): Promise<Result | Declined<Result>>
  /** The value for `--json`; by default the result itself. */
  json?(result: Result): unknown
  /** The text for a user. */
  render(result: Result, request: Request): string | Promise<string>
  /** Printed on stderr, after the text. */
  note?(result: Result, request: Request): string | undefined | Promise<string | undefined>
  /** 0 by default. */
  exitCode?(result: Result): number
  readonly isPaged?: boolean
  /** Not wrapped on a terminal, because a program reads it. */
  readonly isVerbatim?: boolean
}): Command {
  return async (request) => {
    const called = await parts.call(request)
    const isDeclined = called instanceof Declined
    const result = isDeclined ? called.plan : called
    request.bar.erase()
    if (request.isJson) {
      const { displayJson } = await import('../terminal/escape.js')
      request.screen.print(displayJson(parts.json === undefined ? result : parts.json(result)))
    } else if (isDeclined) request.screen.print(called.text)
    else {
      const text = await parts.render(result, request)
      const note = await parts.note?.(result, request)
      await show(text, request.screen, parts)
      if (note !== undefined) request.screen.note(note)
    }
    return isDeclined ? EXIT.declined : (parts.exitCode?.(result) ?? EXIT.done)
  }
}

async function show(
  text: string,
  screen: Screen,
  { isPaged = false, isVerbatim = false }: { isPaged?: boolean; isVerbatim?: boolean },
): Promise<void> {
  if (!isPaged || !screen.isTerminal) {
    screen.print(isVerbatim || isPaged ? text : wrapMessage(text, screen.width))
    return
  }
  const { page } = await import('../terminal/pager.js')
  await page(text, screen)
}
