// What is told when a command has ended: what it changed, how to take it back, and what of ours went wrong.
import { type DiffResult, type ErrorText, SavestateError } from '../../index.js'
import { changeText, COLOUR_OF, tellingChanges } from '../render/change-lines.js'
import { counted, grouped, lines } from '../terminal/format-numbers.js'
import type { Paint } from '../terminal/colors.js'
import { escapeUnsafe } from '../terminal/escape.js'
import type { Ending } from './start-command.js'

export type Outcome = {
  readonly words: readonly string[]
  readonly ending: Ending
  /** The checkpoint from before; undefined if it could not be made. */
  readonly before: string | undefined
  /** The newest made since; undefined if nothing changed, or nothing could be saved. */
  readonly after: string | undefined
  readonly checkpoints: number
  /** Between the two. */
  readonly changed: DiffResult | undefined
  /** Ids as they are typed. */
  readonly shortIds: ReadonlyMap<string, string>
  readonly failures: readonly unknown[]
  readonly isComplete: boolean
}

const SHOWN = 10

/** One line. */
export function outcomeJson(outcome: Outcome): string {
  const { words, ending, before, after, checkpoints, changed, isComplete } = outcome
  const failure = outcome.failures.at(-1)
  const value = {
    command: words,
    exitCode: ending.exitCode,
    signal: ending.signal,
    before: before ?? null,
    after: after ?? before ?? null,
    checkpoints,
    files: changed?.files ?? 0,
    insertions: changed?.insertions ?? 0,
    deletions: changed?.deletions ?? 0,
    changes: changed?.changes ?? [],
    complete: isComplete,
    error: failure === undefined ? null : errorOf(failure),
  }
  return escapeUnsafe(JSON.stringify(value))
}

export function outcomeText(
  outcome: Outcome,
  how: {
    readonly program: string
    readonly paint: Paint
  },
): string {
  const { before, after, changed, isComplete, ending } = outcome
  const { program } = how
  const short = (id: string) => outcome.shortIds.get(id) ?? id
  if (after === undefined && ending.refusal !== undefined) return ''
  if (after === undefined) return isComplete ? 'savestate: the command changed no file.' : ''
  if (before === undefined || changed === undefined)
    return `savestate: its changes are in ${short(after)}. See them: ${program} show ${short(after)}`
  if (changed.files === 0 && changed.changes.length === 0)
    return 'savestate: the files are as they were before the command.'
  const telling = tellingChanges(changed.changes)
  const more = telling.length - SHOWN
  const [from, to] = [short(before), short(after)]
  return [
    `savestate: ${counted(changed.files, 'file')} changed while it ran, ${lines(changed)}.`,
    ...telling
      .slice(0, SHOWN)
      .map((view) => `  ${how.paint(COLOUR_OF[view.change], changeText(view))}`),
    ...(more > 0 ? [`  … and ${grouped(more)} more`] : []),
    `See it:        ${program} diff ${from} ${to}`,
    `Take it back:  ${program} rewind ${from}`,
  ].join('\n')
}

/** What went wrong with the saves, in front of the error itself. */
export function failureText({ before, after, isComplete }: Outcome): string {
  if (isComplete) return 'savestate: a save failed while the command ran; the result is saved.'
  const what =
    before === undefined && after === undefined ? 'nothing' : 'not everything that it changed'
  return `savestate: ${what} is saved. The command was not disturbed.`
}

function errorOf(
  failure: unknown,
): ErrorText | { readonly code: string; readonly message: string } {
  if (failure instanceof SavestateError) return failure.toJSON()
  return { code: 'INTERNAL', message: failure instanceof Error ? failure.message : String(failure) }
}
