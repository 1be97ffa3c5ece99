// The report at the end of `savestate run`: what the command changed, how to undo that, and which saves failed.
import {
  type DiffResult,
  type ErrorText,
  type Project,
  type SaveResult,
  SavestateError,
} from '../../index.js'
import { formatChange, COLOR_OF, listedChanges } from '../render/change-lines.js'
import { formatCount, formatNumber, formatLines } from '../terminal/format-numbers.js'
import type { Paint } from '../terminal/colors.js'
import { escapeUnsafe } from '../terminal/escape.js'
import { programFor } from '../terminal/shell-quote.js'
import type { Request } from '../runtime/command.js'
import { report } from '../runtime/exit.js'
import type { Ending } from './start-command.js'

export type Beginning = {
  readonly project?: Project
  /** The checkpoint before the command; undefined if the save failed. */
  readonly before?: string
  readonly failure?: unknown
}

export type Saved = {
  readonly checkpoints: number
  /** The newest checkpoint; undefined if nothing changed. */
  readonly last: SaveResult | undefined
  readonly failures: readonly unknown[]
  /** Whether the final state of the folder is saved. */
  readonly isComplete: boolean
}

type Outcome = Saved & {
  readonly ending: Ending
  readonly before: string | undefined
  /** The newest checkpoint since; undefined if nothing changed, or every save failed. */
  readonly after: string | undefined
  /** The difference between the two. */
  readonly changed: DiffResult | undefined
  readonly shortIds: ReadonlyMap<string, string>
}

const SHOWN = 10

/** Prints on stderr: stdout belongs to the command. */
export async function reportOutcome(
  request: Request,
  ended: Beginning & { readonly saved: Saved; readonly ending: Ending },
): Promise<void> {
  const { screen, options, isJson, words } = request
  const outcome = await outcomeOf(ended)
  if (isJson) {
    screen.note(outcomeJson(words, outcome))
    return
  }
  const text = outcomeText(outcome, { program: programFor(options), paint: screen.paintNote })
  if (text !== '') screen.note(text)
  const failure = outcome.failures.at(-1)
  if (failure === undefined) return
  screen.note(failureText(outcome))
  await report(failure, { screen, isJson })
}

async function outcomeOf({
  project,
  before,
  failure,
  saved,
  ending,
}: Parameters<typeof reportOutcome>[1]): Promise<Outcome> {
  const failures = [...(failure === undefined ? [] : [failure]), ...saved.failures]
  const after = saved.last?.id
  let changed: DiffResult | undefined
  let shortIds: ReadonlyMap<string, string> = new Map()
  if (project !== undefined && before !== undefined && after !== undefined) {
    try {
      changed = await project.diff(before, { to: after, patch: 'none' })
      shortIds = await project.internals.shortIds([before, after])
    } catch (error) {
      failures.push(error)
    }
  }
  return { ...saved, failures, ending, before, after, changed, shortIds }
}

/** One line. */
function outcomeJson(command: readonly string[], outcome: Outcome): string {
  const { ending, before, after, checkpoints, changed, isComplete } = outcome
  const failure = outcome.failures.at(-1)
  const value = {
    command,
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

function outcomeText(
  outcome: Outcome,
  { program, paint }: { readonly program: string; readonly paint: Paint },
): string {
  const { before, after, changed, isComplete, ending } = outcome
  const short = (id: string) => outcome.shortIds.get(id) ?? id
  if (after === undefined && ending.refusal !== undefined) return ''
  if (after === undefined) return isComplete ? 'savestate: the command changed no file.' : ''
  if (before === undefined || changed === undefined)
    return `savestate: its changes are in ${short(after)}. See them: ${program} show ${short(after)}`
  if (changed.files === 0 && changed.changes.length === 0)
    return 'savestate: the files are as they were before the command.'
  const listed = listedChanges(changed.changes)
  const more = listed.length - SHOWN
  const [from, to] = [short(before), short(after)]
  return [
    `savestate: ${formatCount(changed.files, 'file')} changed while it ran, ${formatLines(changed)}.`,
    ...listed
      .slice(0, SHOWN)
      .map((view) => `  ${paint(COLOR_OF[view.change], formatChange(view))}`),
    ...(more > 0 ? [`  … and ${formatNumber(more)} more`] : []),
    `See it:   ${program} diff ${from} ${to}`,
    `Undo it:  ${program} rewind ${from}`,
  ].join('\n')
}

/** Goes before the error of a failed save. */
function failureText({ before, after, isComplete }: Outcome): string {
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
