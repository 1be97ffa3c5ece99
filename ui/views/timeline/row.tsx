// One line of the timeline.
import { Component, type ComponentChildren, type VNode } from 'preact'
import type { Row } from '../../../src/ui/api.js'
import { openRestore } from '../../app/dialogs.js'
import { restoreWord } from '../../app/model.js'
import { addressOf, checkpointPath, followLink, sessionPath } from '../../app/router.js'
import {
  Author,
  count,
  Figures,
  SumText,
  Line as TextLine,
  Time,
  visibleText,
} from '../../components/text.js'
import { dayText } from './days.js'
import type { Line, LineOf } from './lines.js'
import { callWords, durationText, marksOf, promptText, singleWords } from './words.js'

export type RowProps = {
  readonly line: Line
  readonly index: number
  readonly top: number
  readonly height: number
  readonly isActive: boolean
  readonly isNew: boolean
  readonly isHere: boolean
  /** The first prompt of the session; undefined if it is not known. */
  readonly title: string | undefined
  readonly canPlan: boolean
}

/** Drawn again only if one of its properties differs: scrolling moves no row. */
export class TimelineRow extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const keys = Object.keys(next) as (keyof RowProps)[]
    return keys.some((key) => next[key] !== this.props[key])
  }

  override render(): VNode {
    const { line, index, top, height, isActive, isNew, isHere } = this.props
    const style = { top: `${top}px`, height: `${height}px` }
    if (line.type === 'day')
      return (
        <div role="row" class="tl-row" data-type="day" aria-rowindex={index + 1} style={style}>
          <span role="gridcell" class="tl-day">
            {dayText(line.day)}
          </span>
        </div>
      )
    const isOpen = 'isOpen' in line ? line.isOpen : undefined
    const canOpen = line.type === 'session' || (line.type === 'card' && line.turn.steps.length > 0)
    const row = 'row' in line ? line.row : undefined
    const isContinued = line.type === 'card' && line.turn.isContinued
    return (
      <div
        role="row"
        class="tl-row"
        data-type={line.type}
        data-key={line.key}
        data-id={isContinued ? undefined : row?.id}
        data-turn={line.type === 'card' ? (row?.turn ?? undefined) : undefined}
        data-new={isNew ? '' : undefined}
        data-here={isHere ? '' : undefined}
        data-last={line.type === 'step' && line.isLast ? '' : undefined}
        aria-level={line.level}
        aria-posinset={line.position}
        aria-setsize={line.setSize}
        aria-rowindex={index + 1}
        aria-expanded={canOpen ? isOpen : line.type === 'more' ? false : undefined}
        aria-selected={isActive}
        tabIndex={isActive ? 0 : -1}
        style={style}
      >
        {content(line, this.props)}
      </div>
    )
  }
}

function content(line: Exclude<Line, { type: 'day' }>, props: RowProps): ComponentChildren {
  switch (line.type) {
    case 'session':
      return <SessionHeader line={line} title={props.title} />
    case 'card':
      return <Card {...props} line={line} />
    case 'more':
      return (
        <span role="gridcell" class="tl-more">
          <span class="tl-node" aria-hidden="true" />
          <span class="tl-toggle" aria-hidden="true">
            ▸
          </span>
          {count(line.hidden, 'more step')}
        </span>
      )
    default:
      return <Entry row={line.row} {...props} />
  }
}

function SessionHeader(props: {
  readonly line: LineOf<'session'>
  readonly title: string | undefined
}): VNode {
  const { group, isOpen } = props.line
  const prompts = group.items.filter((item) => item.type === 'turn' && !item.isContinued).length
  const loose = group.items.length - prompts
  return (
    <span role="gridcell" class="tl-session">
      <Toggle isOpen={isOpen} />
      <Author name={group.agent ?? 'session'} />
      <a
        class="tl-session-title"
        href={addressOf(sessionPath(group.session))}
        onClick={followLink}
        tabIndex={-1}
        title="Open the conversation"
      >
        <TextLine text={props.title ?? group.session} />
      </a>
      {props.title === undefined ? null : (
        <span class="tl-session-id">{visibleText(group.session.slice(0, 8))}</span>
      )}
      <span class="tl-end muted">
        {prompts > 0 ? count(prompts, 'prompt') : count(loose, 'checkpoint')}
      </span>
    </span>
  )
}

function Card({ line, ...props }: RowProps & { readonly line: LineOf<'card'> }): VNode {
  const { row, turn, isOpen } = line
  const { authors, steps, sum, durationMs } = turn.summary
  return (
    <span role="gridcell" class="tl-card">
      <Stamp row={row} />
      <span class="tl-node" aria-hidden="true" />
      <span class="tl-card-body">
        <span class="tl-line">
          <a
            class="tl-title"
            href={addressOf(checkpointPath(row.id))}
            onClick={followLink}
            tabIndex={-1}
          >
            <span class="tl-you">You:</span> <TextLine text={promptText(row)} />
          </a>
          {turn.isContinued ? <span class="tl-note">continued</span> : null}
          <Marks row={row} isHere={props.isHere} />
          <Actions row={row} canPlan={props.canPlan} />
        </span>
        <span class="tl-line tl-sub">
          {turn.steps.length > 0 ? <Toggle isOpen={isOpen} /> : null}
          {authors.map((name) => (
            <Author key={name} name={name} />
          ))}
          {steps === 0 ? (
            <span>no changes</span>
          ) : (
            <>
              <span>{count(steps, 'step')}</span>
              <SumText sum={sum} />
              <span>{durationText(durationMs)}</span>
            </>
          )}
          {row.files > 0 && !turn.isContinued ? (
            <span class="tl-before">
              before it <Author name={row.author} /> <Figures {...row} />
            </span>
          ) : null}
        </span>
      </span>
    </span>
  )
}

function Entry({ row, line, ...props }: RowProps & { readonly row: Row }): VNode {
  const isSingle = line.type === 'single'
  const { kind, what } = isSingle ? singleWords(row) : { kind: '', what: '' }
  const call = callWords(row)
  return (
    <span role="gridcell" class="tl-entry">
      <Stamp row={row} />
      <span class="tl-node" data-kind={row.kind} aria-hidden="true" />
      <a
        class="tl-title"
        href={addressOf(checkpointPath(row.id))}
        onClick={followLink}
        tabIndex={-1}
      >
        <span class="tl-tool">
          <TextLine text={isSingle ? kind : call.tool} />
        </span>{' '}
        <span class={isSingle ? undefined : 'tl-argument'}>
          <TextLine text={isSingle ? what : call.what} />
        </span>
      </a>
      <span class="tl-figures">
        <Marks row={row} isHere={props.isHere} />
        {row.files > 1 ? <span class="muted">{count(row.files, 'file')}</span> : null}
        {isSingle && row.kind !== 'save' ? null : <Author name={row.author} />}
        {row.files > 0 ? <Figures {...row} /> : <span class="figures" />}
      </span>
      <Actions row={row} canPlan={props.canPlan} />
    </span>
  )
}

function Stamp({ row }: { readonly row: Row }): VNode {
  return (
    <span class="tl-time">
      <Time at={row.createdAt} />
    </span>
  )
}

function Toggle({ isOpen }: { readonly isOpen: boolean }): VNode {
  return (
    <span class="tl-toggle" data-toggle="" aria-hidden="true">
      {isOpen ? '▾' : '▸'}
    </span>
  )
}

function Marks({ row, isHere }: { readonly row: Row; readonly isHere: boolean }): VNode {
  return (
    <>
      {marksOf(row).map(({ kind, sign, word }) => (
        <span key={kind} class="tl-mark" data-mark={kind}>
          <span aria-hidden="true">{sign}</span> {visibleText(word)}
        </span>
      ))}
      {isHere ? (
        <span class="tl-mark" data-mark="here">
          <span aria-hidden="true">◉</span> you are here
        </span>
      ) : null}
    </>
  )
}

/** Visible while the mouse or the focus is on the row; the keyboard has `r` and `d`. */
function Actions({ row, canPlan }: { readonly row: Row; readonly canPlan: boolean }): VNode {
  return (
    <span class="tl-actions">
      <a
        class="tl-action"
        href={addressOf(checkpointPath(row.id), { tab: 'since' })}
        onClick={followLink}
        tabIndex={-1}
      >
        Compare
      </a>
      {canPlan && row.hasFiles ? (
        <button
          type="button"
          class="tl-action"
          tabIndex={-1}
          onClick={() => openRestore({ kind: 'rewind', ref: row.id })}
        >
          {restoreWord.value}
        </button>
      ) : null}
    </span>
  )
}
