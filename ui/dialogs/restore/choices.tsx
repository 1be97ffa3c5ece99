// The choices of the restore dialog: what goes back, from before or after the step, and whether the user's own changes stay.
import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import type { ConflictChoice, Plan, Restored } from '../../../src/ui/api.js'
import { count } from '../../components/text.js'
import type { ChosenHunks } from './selection.js'
import { CHOICES, CHANGED_BY_USER, CONFLICT_CHOICES } from './words.js'

export type Choices = {
  readonly restore: Restored
  readonly before: boolean
  readonly keepMine: boolean
  /** Only for the undo of a step. */
  readonly conflict: ConflictChoice
  /** Only these changes of one file go back. */
  readonly hunks: ChosenHunks | undefined
}

export function ChoiceFields(props: {
  readonly choices: Choices
  readonly plan: Plan | undefined
  /** The step has a checkpoint before it too. */
  readonly hasBefore: boolean
  readonly onChange: (changed: Partial<Choices>) => void
}): VNode {
  const { choices, plan, hasBefore, onChange } = props
  return (
    <div class="restore-choices">
      <fieldset>
        <legend>Bring back</legend>
        {(['files', 'conversation', 'both'] as const).map((choice) => {
          const reason = reasonAgainst(plan, choice)
          return (
            <label key={choice} data-disabled={reason !== null}>
              <input
                type="radio"
                name="restore"
                value={choice}
                checked={choices.restore === choice}
                disabled={reason !== null && choices.restore !== choice}
                onChange={() => onChange({ restore: choice })}
              />
              <span>
                {CHOICES[choice]}
                {reason === null ? null : <span class="restore-reason">{reason}</span>}
              </span>
            </label>
          )
        })}
      </fieldset>
      <div class="restore-switches">
        {hasBefore ? (
          <Switch
            label="Just before this step"
            note={choices.before ? 'as if it had not run' : 'off: as it was after the step'}
            isOn={choices.before}
            onChange={(before) => onChange({ before })}
          />
        ) : null}
        {choices.restore === 'conversation' ? null : (
          <Switch
            label="Keep my changes"
            note={mineText(plan, choices.keepMine)}
            isOn={choices.keepMine}
            onChange={(keepMine) => onChange({ keepMine })}
          />
        )}
      </div>
    </div>
  )
}

/** Decides the files that cannot be merged. Shown as soon as there is one; it stays, so that the focus does. */
export function ConflictField(props: {
  readonly choice: ConflictChoice
  readonly conflicts: number
  readonly onChange: (choice: ConflictChoice) => void
}): VNode | null {
  const wasShown = useRef(false)
  wasShown.current ||= props.conflicts > 0 || props.choice !== 'refuse'
  if (!wasShown.current) return null
  const choices = Object.entries(CONFLICT_CHOICES) as [ConflictChoice, string][]
  return (
    <label class="restore-conflict">
      <span>Files that cannot be merged</span>
      <select
        class="input"
        value={props.choice}
        onChange={(event) => props.onChange(event.currentTarget.value as ConflictChoice)}
      >
        {choices.map(([choice, words]) => (
          <option key={choice} value={choice}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Why the choice is not possible; null if it is, or not known yet. */
export function reasonAgainst(plan: Plan | undefined, choice: Restored): string | null {
  if (plan === undefined) return null
  const { files, conversation } = plan.unavailable
  if (choice === 'files') return files
  if (choice === 'conversation') return conversation
  return files ?? conversation
}

function mineText(plan: Plan | undefined, isOn: boolean): string {
  if (plan === undefined) return ''
  if (isOn) {
    const kept = plan.lines.filter(({ reason }) => reason === CHANGED_BY_USER).length
    if (kept === 0) return 'you changed none of these files'
    return kept === 1 ? '1 file stays' : `${count(kept, 'file')} stay`
  }
  const mine = plan.lines.filter(({ author }) => author?.split('+').includes('you') === true)
  return mine.length === 0
    ? 'you changed none of these files'
    : `${count(mine.length, 'file')} of yours would change`
}

function Switch(props: {
  readonly label: string
  readonly note: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}): VNode {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        checked={props.isOn}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span>
        {props.label} <span class="muted">{props.note}</span>
      </span>
    </label>
  )
}
