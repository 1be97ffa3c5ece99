// The button that applies the plan. It names the number of files; a read-only page has the command instead.
import type { VNode } from 'preact'
import type { Plan } from '../../../src/ui/api.js'
import { start } from '../../app/model.js'
import { Command } from '../../components/command.js'
import { buttonText, commandLabel, commandText } from './words.js'

export function Footer(props: {
  readonly plan: Plan | undefined
  /** The selected paths; undefined for all. */
  readonly paths: readonly string[] | undefined
  readonly files: number
  /** The plan of the present choices is not there yet. */
  readonly isMaking: boolean
  readonly canApply: boolean
  readonly isApplying: boolean
  readonly onApply: (plan: Plan) => void
  readonly onClose: () => void
}): VNode {
  const { plan, paths, isMaking, canApply, isApplying, onApply, onClose } = props
  if (start.value?.isReadOnly === true)
    return (
      <footer class="restore-footer">
        <div class="restore-command">
          <span class="muted">This page is read-only. {commandLabel(paths)}</span>
          {plan === undefined ? null : <Command text={commandText(plan.command, paths)} />}
        </div>
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </footer>
    )
  const hasNone = plan === undefined && !isMaking
  return (
    <footer class="restore-footer">
      <p class="muted restore-made">{hasNone ? '' : 'The plan is checked every 2 seconds.'}</p>
      <button type="button" class="button" disabled={isApplying} onClick={onClose}>
        {hasNone ? 'Close' : 'Cancel'}
      </button>
      {hasNone ? null : (
        <button
          type="button"
          class="button"
          data-kind="primary"
          data-action="apply"
          disabled={!canApply}
          onClick={() => plan !== undefined && onApply(plan)}
        >
          {isApplying
            ? 'Going back …'
            : plan === undefined || isMaking
              ? 'Making the plan …'
              : buttonText(plan, props.files)}
        </button>
      )}
    </footer>
  )
}
