// The list of files of a plan with its counts, its filter, and the difference of the file that the user opens.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Plan, PlanLine } from '../../../src/ui/api.js'
import { project } from '../../app/model.js'
import { count } from '../../components/text.js'
import { PlanList } from './plan-list.js'
import { Preview } from './preview.js'
import {
  canBeSelected,
  type ChosenHunks,
  countActions,
  isSelected,
  type Selection,
} from './selection.js'
import { countsText } from './words.js'

/** A shorter list needs no filter. */
const MIN_FILTERED = 8

export function PlanTable(props: {
  readonly plan: Plan
  /** Those to show. */
  readonly lines: readonly PlanLine[]
  readonly selection: Selection
  readonly onChoose: ((chosen: ChosenHunks) => void) | undefined
  readonly onDecide: (lines: readonly PlanLine[], ticked: boolean) => void
}): VNode {
  const { plan, lines, selection, onDecide } = props
  const { canSelect, goal, kind } = plan
  const [filter, setFilter] = useState('')
  const [open, setOpen] = useState<string | undefined>(undefined)
  const words = filter.toLowerCase()
  const found =
    words === '' ? lines : lines.filter(({ path }) => path.toLowerCase().includes(words))
  const ticked = lines.filter((line) => isSelected(line, selection)).length
  const possible = lines.filter(canBeSelected).length
  const opened = lines.find(({ path }) => path === open)
  const hasPreview = opened !== undefined && goal !== null
  return (
    <div class="restore-columns">
      <section class="restore-files" aria-label="The plan">
        <header>
          <h3>
            {count(lines.length, 'file')}:{' '}
            <span class="restore-counts">{countsText(countActions(lines), kind)}</span>
          </h3>
          {canSelect && possible > 0 ? (
            <p class="restore-select">
              <span class="muted">
                {ticked.toLocaleString('en')} of {possible.toLocaleString('en')} ticked
              </span>
              <button
                type="button"
                class="button"
                data-kind="plain"
                onClick={() => onDecide(found, true)}
              >
                All
                <span class="visually-hidden"> {words === '' ? 'files' : 'found files'}</span>
              </button>
              <button
                type="button"
                class="button"
                data-kind="plain"
                onClick={() => onDecide(found, false)}
              >
                None
                <span class="visually-hidden">
                  {' '}
                  {words === '' ? 'of the files' : 'of the found files'}
                </span>
              </button>
            </p>
          ) : null}
          {lines.length < MIN_FILTERED ? null : (
            <input
              type="search"
              class="input"
              placeholder="Filter files"
              aria-label="Filter files"
              value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          )}
        </header>
        {canSelect ? null : (
          <p class="muted">
            {kind === 'undoStep' ? 'The undo of a step' : 'An undo or redo'} is whole: single files
            cannot be left out.
          </p>
        )}
        {found.length === 0 ? (
          <p class="restore-nothing">No file of the plan has “{filter}” in its path.</p>
        ) : (
          <PlanList
            lines={found}
            selection={selection}
            canSelect={canSelect}
            kind={kind}
            open={hasPreview ? open : undefined}
            onTick={(line, isTicked) => onDecide([line], isTicked)}
            onOpen={({ path }) => setOpen(open === path ? undefined : path)}
          />
        )}
      </section>
      {hasPreview ? (
        <Preview
          project={project.value}
          target={goal}
          isStep={kind === 'undoStep'}
          path={opened.path}
          version={plan.madeAt}
          onClose={() => setOpen(undefined)}
          onChoose={opened.action === 'write' ? props.onChoose : undefined}
        />
      ) : null}
    </div>
  )
}
