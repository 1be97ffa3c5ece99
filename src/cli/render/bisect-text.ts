// The progress and the answer of `savestate bisect`.
import type { BisectResult, BisectStep, CheckpointDetails, DiffResult } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { diffText } from './diff-text.js'
import { printableLine } from '../terminal/escape.js'
import { formatCount } from '../terminal/format-numbers.js'
import { relativeTime } from '../terminal/relative-time.js'
import { programFor } from '../terminal/shell-quote.js'

const ID_LETTERS = 8

/** `blmqmxvf: good; at most 3 more to test` */
export function stepText({ checkpoint, outcomes, isKept, left }: BisectStep): string {
  const rest = left === undefined ? '' : `; at most ${left} more to test`
  const id = checkpoint.slice(0, ID_LETTERS)
  if (outcomes === undefined) return `savestate: testing ${id}${rest}`
  const isFlaky = new Set(outcomes).size > 1
  const result = isFlaky ? `good, but the runs disagree (${outcomes.join(', ')})` : outcomes[0]
  return `savestate: ${id} is ${result}${isKept ? ' (result kept)' : ''}`
}

export function bisectText(
  {
    result,
    details,
    diff,
  }: {
    readonly result: BisectResult
    readonly details: CheckpointDetails
    readonly diff: DiffResult
  },
  { request, shown }: { readonly request: Request; readonly shown: string },
): string {
  const { screen, options } = request
  const { prompt, tool, runs, candidates } = result
  const label = (name: string, text: string) => `${screen.paint('dim', name.padEnd(9))} ${text}`
  const flaky = runs.filter(({ outcomes }) => new Set(outcomes).size > 1)
  const others = candidates?.slice(0, -1) ?? []
  const shownFlaky = flaky.map(({ checkpoint }) => checkpoint.slice(0, ID_LETTERS)).join(', ')
  return [
    `${screen.paint('bold', 'First bad')} ${screen.paint('yellow', shown)} (${relativeTime(details.createdAt, screen.now)}), found with ${formatCount(runs.length, 'checkpoint')}`,
    ...(details.reason === null ? [] : [label('Message', printableLine(details.reason))]),
    ...(prompt === null ? [] : [label('Prompt', printableLine(prompt))]),
    ...(tool === null ? [] : [label('Tool call', printableLine(tool))]),
    ...(others.length === 0
      ? []
      : [`Skipped checkpoints before it may be the first one: ${others.join(', ')}`]),
    ...(flaky.length === 0
      ? []
      : [`The runs disagree, so the answer may be wrong, at ${shownFlaky}`]),
    label('Undo with', `${programFor(options)} undo ${shown}`),
    '',
    diffText(diff, { screen, isStat: false }),
  ].join('\n')
}
