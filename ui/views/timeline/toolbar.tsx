// The filters and the jump to a date. The address holds the filters.
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { addressOf, navigate } from '../../app/router.js'
import { count, visibleText } from '../../components/text.js'
import { type DayTarget, dayText } from './days.js'
import { type Filter, filterQuery, isFiltered, type Kind, KINDS } from './filters.js'

export type SessionOption = { readonly id: string; readonly label: string }

export function Toolbar(props: {
  readonly filter: Filter
  readonly sessions: readonly SessionOption[]
  readonly authors: readonly string[]
  readonly days: readonly DayTarget[]
  readonly shown: number
  readonly isComplete: boolean
  readonly onJump: (top: number) => void
}): VNode {
  const { filter } = props
  const set = (changed: Partial<Filter>) =>
    navigate(addressOf('/', filterQuery({ ...filter, ...changed })), { replace: true })
  return (
    <div class="tl-toolbar" role="group" aria-label="Filters">
      <Choice
        label="Session"
        all="All sessions"
        value={filter.session}
        options={props.sessions.map(({ id, label }) => [id, label])}
        onChoose={(session) => set({ session })}
      />
      <Choice
        label="Author"
        all="All authors"
        value={filter.author}
        options={props.authors.map((author) => [author, author])}
        onChoose={(author) => set({ author })}
      />
      <KindMenu filter={filter} onChange={(show) => set({ show })} />
      {isFiltered(filter) ? (
        <button
          type="button"
          class="button"
          data-kind="plain"
          onClick={() => navigate(addressOf('/'), { replace: true })}
        >
          Clear
        </button>
      ) : null}
      <span class="tl-count muted">
        {count(props.shown, 'checkpoint')}
        {props.isComplete ? '' : ', loading more …'}
      </span>
      <select
        class="tl-select"
        aria-label="Jump to date"
        value=""
        onChange={({ currentTarget }) => {
          const day = props.days.find((one) => one.day === currentTarget.value)
          currentTarget.value = ''
          if (day !== undefined) props.onJump(day.top)
        }}
      >
        <option value="">Jump to date</option>
        {props.days.map(({ day }) => (
          <option key={day} value={day}>
            {dayText(day)}
          </option>
        ))}
      </select>
    </div>
  )
}

function Choice(props: {
  readonly label: string
  readonly all: string
  readonly value: string
  readonly options: readonly (readonly [string, string])[]
  readonly onChoose: (value: string) => void
}): VNode {
  const isKnown = props.value === '' || props.options.some(([value]) => value === props.value)
  return (
    <select
      class="tl-select"
      aria-label={props.label}
      value={props.value}
      data-active={props.value === '' ? undefined : ''}
      onChange={({ currentTarget }) => props.onChoose(currentTarget.value)}
    >
      <option value="">{props.all}</option>
      {isKnown ? null : <option value={props.value}>{visibleText(props.value)}</option>}
      {props.options.map(([value, label]) => (
        <option key={value} value={value}>
          {visibleText(label)}
        </option>
      ))}
    </select>
  )
}

function KindMenu(props: {
  readonly filter: Filter
  readonly onChange: (show: ReadonlySet<Kind>) => void
}): VNode {
  const { show } = props.filter
  const isAll = show.size === KINDS.length
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const closeOutside = ({ target }: Event) => {
      if (menu.current !== null && !(target instanceof Node && menu.current.contains(target)))
        menu.current.open = false
    }
    // Not on focusin: a press on a label focuses <main> for a moment.
    document.addEventListener('pointerdown', closeOutside)
    return () => document.removeEventListener('pointerdown', closeOutside)
  }, [])
  return (
    <details
      class="tl-kinds"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || menu.current === null) return
        menu.current.open = false
        menu.current.querySelector('summary')?.focus()
      }}
    >
      <summary class="tl-select" data-active={isAll ? undefined : ''}>
        {isAll ? 'All kinds' : `${show.size} of ${KINDS.length} kinds`}
      </summary>
      <div class="tl-kinds-menu">
        {KINDS.map(([kind, label]) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={show.has(kind)}
              onChange={({ currentTarget }) => {
                const changed = new Set(show)
                if (currentTarget.checked) changed.add(kind)
                else changed.delete(kind)
                props.onChange(changed)
              }}
            />
            {label}
          </label>
        ))}
      </div>
    </details>
  )
}
