// How a checkpoint is named outside of the timeline: its words, its prompt, its marks.
import type { VNode } from 'preact'
import type { Row } from '../../src/ui/api.js'
import { rows } from '../app/model.js'
import { addressOf, checkpointPath, followLink } from '../app/router.js'
import { Author, Figures, Line, relativeTime, Time } from './text.js'

const PROMPT = 'You: '

export const isPrompt = ({ reason }: Row): boolean => reason?.startsWith(PROMPT) === true

/** The reason in the words of the user or the agent. */
export function titleOf({ reason, name, kind }: Row): string {
  if (reason === null) return name ?? kind
  return reason.startsWith(PROMPT) ? reason.slice(PROMPT.length) : reason
}

/** The prompt that the checkpoint belongs to; undefined if it is that prompt, or there is none. */
export function promptOf(row: Row): Row | undefined {
  if (row.session === null || row.turn === null || isPrompt(row)) return undefined
  return rows.value.find(
    (other) => other.session === row.session && other.turn === row.turn && isPrompt(other),
  )
}

export function DateAndTime({ at }: { readonly at: string }): VNode {
  const isToday = new Date(at).toDateString() === new Date().toDateString()
  return (
    <span class="date">
      {isToday ? null : `${new Date(at).toLocaleDateString([], { dateStyle: 'medium' })}, `}
      <Time at={at} /> <span class="muted">({relativeTime(at)})</span>
    </span>
  )
}

export function Marks({ row }: { readonly row: Row }): VNode {
  const { name, pinned, tests, status, damaged, filesPruned, kind, skipped } = row
  return (
    <>
      {name === null ? null : (
        <span class="tag" data-tag="name">
          ◆ <Line text={name} />
        </span>
      )}
      {pinned ? <span class="tag">pinned</span> : null}
      {tests === 'passed' ? <span class="tag">✓ tests passed</span> : null}
      {tests === 'failed' ? (
        <span class="tag" data-tag="danger">
          ✗ tests failed
        </span>
      ) : null}
      {kind === 'save' ? null : <span class="tag">{kind}</span>}
      {status?.startsWith('failed') === true || status?.startsWith('halted') === true ? (
        <span class="tag" data-tag="danger">
          <Line text={status} />
        </span>
      ) : null}
      {damaged === true ? (
        <span class="tag" data-tag="danger">
          damaged
        </span>
      ) : null}
      {filesPruned === true ? <span class="tag">files pruned</span> : null}
      {skipped > 0 ? <span class="tag">{skipped} left out</span> : null}
    </>
  )
}

/** In one line, for lists and for the two sides of a comparison. */
export function CheckpointLink({ row }: { readonly row: Row }): VNode {
  return (
    <a class="checkpoint-link" href={addressOf(checkpointPath(row.id))} onClick={followLink}>
      <Line text={titleOf(row)} />
    </a>
  )
}

export function CheckpointSummary({ row }: { readonly row: Row }): VNode {
  const prompt = promptOf(row)
  return (
    <div class="checkpoint-summary">
      <CheckpointLink row={row} />
      <div class="checkpoint-facts">
        <DateAndTime at={row.createdAt} />
        <Author name={row.author} />
        <Figures insertions={row.insertions} deletions={row.deletions} />
        <Marks row={row} />
      </div>
      {prompt === undefined ? null : (
        <div class="checkpoint-facts muted">
          Prompt: <Line text={titleOf(prompt)} />
        </div>
      )}
    </div>
  )
}
