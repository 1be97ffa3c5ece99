// "You are at …": the newest checkpoint, what has changed since, and whether the last rewind can be undone.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { openRestore } from '../../app/dialogs.js'
import { here, hereError, rowOf, start } from '../../app/model.js'
import { addressOf, checkpointPath, followLink } from '../../app/router.js'
import { count, Figures, Line, relativeTime } from '../../components/text.js'
import { isPrompt, promptText, titleOf } from './words.js'
import type { Row } from '../../../src/ui/api.js'

const TICK_MS = 30_000

export function HereSentence(): VNode {
  const [, setTick] = useState(0)
  useEffect(() => {
    // "2 min. ago" changes by itself.
    const timer = window.setInterval(() => setTick((tick) => tick + 1), TICK_MS)
    return () => window.clearInterval(timer)
  }, [])
  const found = here.value
  const error = hereError.value
  const isExport = start.value?.isExport === true
  if (found === undefined)
    return (
      <p class="tl-here" data-here-state={error === undefined ? 'loading' : 'error'}>
        {error !== undefined
          ? `${error.message}. ${error.hint ?? ''}`
          : isExport
            ? 'This is an export: nothing in it can be restored.'
            : 'Comparing the folder with the newest checkpoint …'}
      </p>
    )
  const newest = found.newest === null ? undefined : rowOf.value.get(found.newest)
  const { files, insertions, deletions } = found.changed
  return (
    <p class="tl-here" data-here-state="ready">
      <span class="tl-here-dot" aria-hidden="true" />
      <span>
        {newest === undefined ? (
          'Nothing is saved yet'
        ) : (
          <>
            You are at{' '}
            <a href={addressOf(checkpointPath(newest.id))} onClick={followLink}>
              <Line text={describe(newest)} />
            </a>{' '}
            <span class="muted">({relativeTime(newest.createdAt)})</span>
          </>
        )}
        {files === 0 ? (
          newest === undefined ? (
            '.'
          ) : (
            ', and nothing has changed since.'
          )
        ) : (
          <>
            , and{' '}
            {newest === undefined ? (
              `${count(files, 'file')} to save.`
            ) : (
              <a href={addressOf(checkpointPath(newest.id), { tab: 'since' })} onClick={followLink}>
                {count(files, 'file')} changed since
              </a>
            )}{' '}
            <Figures insertions={insertions} deletions={deletions} />
          </>
        )}
      </span>
      {found.undo === null ? null : (
        <Reversal kind="undo" label="Undo it" {...found.undo}>
          Last rewind
        </Reversal>
      )}
      {found.redo === null ? null : (
        <Reversal kind="redo" label="Redo" {...found.redo}>
          Undone rewind
        </Reversal>
      )}
    </p>
  )
}

function Reversal(props: {
  readonly kind: 'undo' | 'redo'
  readonly label: string
  readonly rewoundAt: string
  readonly children: string
}): VNode {
  return (
    <span class="tl-reversal">
      <span>
        {props.children} {relativeTime(props.rewoundAt)}
      </span>
      {start.value?.isReadOnly === true ? null : (
        <button type="button" class="button" onClick={() => openRestore({ kind: props.kind })}>
          {props.label}
        </button>
      )}
    </span>
  )
}

function describe(row: Row): string {
  return isPrompt(row) && row.name === null ? `You: ${promptText(row)}` : titleOf(row)
}
