// The whole timeline as a strip beside it: one segment per day, marks for named, failed and the current checkpoint. For the mouse;
// the keyboard has "Jump to date".
import type { VNode } from 'preact'
import { type DayTarget, shortDay, type StripMark } from './days.js'

/** Labels closer than this would overlap. */
const LABEL_SHARE = 0.03

export function Strip(props: {
  readonly days: readonly DayTarget[]
  readonly marks: readonly StripMark[]
  readonly height: number
  readonly onJump: (top: number) => void
}): VNode {
  const { days, height } = props
  let labeled = -1
  const percent = (top: number) => `${(top / height) * 100}%`
  return (
    <div
      class="tl-strip"
      aria-hidden="true"
      onClick={(event) => {
        const { top, height: shown } = event.currentTarget.getBoundingClientRect()
        props.onJump(((event.clientY - top) / shown) * height)
      }}
    >
      {days.map(({ day, top, bottom }) => {
        const hasLabel = labeled < 0 || (top - labeled) / height > LABEL_SHARE
        if (hasLabel) labeled = top
        return (
          <span
            key={day}
            class="tl-strip-day"
            style={{ top: percent(top), height: percent(bottom - top) }}
          >
            {hasLabel ? shortDay(day) : null}
          </span>
        )
      })}
      {props.marks.map(({ kind, share }) => (
        <span
          key={`${kind} ${share}`}
          class="tl-strip-mark"
          data-mark={kind}
          style={{ top: `${share * 100}%` }}
        />
      ))}
    </div>
  )
}
