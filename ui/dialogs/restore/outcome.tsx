// The sentence above the list of files: why nothing can be applied.
import type { VNode } from 'preact'
import type { Plan } from '../../../src/ui/api.js'
import { reasonAgainst } from './choices.js'
import type { ChosenHunks } from './selection.js'
import { noneTickedText, nothingText } from './words.js'

/** Why the button cannot be pressed, in words. */
export function Outcome(props: {
  readonly plan: Plan
  readonly conflicts: number
  readonly changes: number
  readonly only: readonly string[] | undefined
  readonly hunks: ChosenHunks | undefined
}): VNode | null {
  const { plan, conflicts, changes, only, hunks } = props
  const blocked = reasonAgainst(plan, plan.restore)
  if (blocked !== null) return <p data-note="warn">{blocked}</p>
  if (conflicts > 0 && plan.kind === 'undoStep')
    return (
      <p data-note="danger">
        {conflicts === 1 ? 'One path' : `${conflicts} paths`} cannot be merged with what was changed
        since, so nothing is undone. Choose above what happens then.
      </p>
    )
  if (conflicts > 0)
    return (
      <p data-note="danger">
        {conflicts === 1 ? 'One path is' : `${conflicts} paths are`} in the way: no checkpoint has
        what is there now, so it would be lost. Move it away
        {plan.token === null ? '' : ', or untick it'}; the plan is made again by itself.
      </p>
    )
  if (hunks?.hunks.length === 0) return <p class="restore-nothing">No change is ticked.</p>
  const nothing = nothingText(plan) ?? noneTickedText(plan, { changes, only })
  return nothing === null ? null : <p class="restore-nothing">{nothing}</p>
}
