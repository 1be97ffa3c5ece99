// What a command is: it calls one operation and says its result. Printing, JSON and the pager are here, once.
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
  /** Where the person is. */
  readonly folder: string
  /** A positional argument that the table says is there. */
  readonly argument: (index: number) => string
  /** Opened once, and closed when the command has ended. */
  readonly store: () => Promise<Store>
  readonly project: () => Promise<Project>
}

export type Command = (request: Request) => Promise<number>

export function command<Result>(parts: {
  call(request: Request): Promise<Result>
  /** What `--json` prints; the result itself if left out. */
  json?(result: Result): unknown
  /** The answer for a person. */
  render(result: Result, request: Request): string | Promise<string>
  /** What to add on stderr, after the answer. */
  note?(result: Result, request: Request): string | undefined | Promise<string | undefined>
  /** 0 if left out. */
  exitCode?(result: Result): number
  readonly isPaged?: boolean
  /** Not to be wrapped on a terminal: a program reads it. */
  readonly isVerbatim?: boolean
}): Command {
  return async (request) => {
    const result = await parts.call(request)
    request.bar.erase()
    if (request.isJson) {
      const { jsonForPeople } = await import('../terminal/escape.js')
      request.screen.print(jsonForPeople(parts.json === undefined ? result : parts.json(result)))
    } else {
      const text = await parts.render(result, request)
      const note = await parts.note?.(result, request)
      const { isPaged = false, isVerbatim = false } = parts
      await show(text, { screen: request.screen, isPaged, isVerbatim })
      if (note !== undefined) request.screen.note(note)
    }
    return parts.exitCode?.(result) ?? EXIT.done
  }
}

async function show(
  text: string,
  {
    screen,
    isPaged,
    isVerbatim,
  }: { readonly screen: Screen; readonly isPaged: boolean; readonly isVerbatim: boolean },
): Promise<void> {
  if (!isPaged || !screen.isTerminal) {
    screen.print(isVerbatim || isPaged ? text : wrapMessage(text, screen.width))
    return
  }
  const { page } = await import('../terminal/pager.js')
  await page(text, screen)
}
