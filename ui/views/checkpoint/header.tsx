// What the checkpoint is, and what can be done with it.
import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Row } from '../../../src/ui/api.js'
import { openDialog, openRestore } from '../../app/dialogs.js'
import { useShortcuts } from '../../app/keys.js'
import { canUndoStep, project, refresh, restoreWord, start, undoStepWord } from '../../app/model.js'
import { addressOf, checkpointPath, followLink, route, sessionPath } from '../../app/router.js'
import { call, RequestError } from '../../app/transport.js'
import {
  DateAndTime,
  isPrompt,
  Marks,
  promptOf,
  titleOf,
} from '../../components/checkpoint-summary.js'
import { Author, count, Figures, Line } from '../../components/text.js'
import type { Neighbors } from './checkpoint.js'

export function Header(props: { readonly row: Row; readonly neighbors: Neighbors }): VNode {
  const { row, neighbors } = props
  return (
    <header class="checkpoint-header">
      <h1>
        {isPrompt(row) ? <span class="muted">You: </span> : null}
        <Line text={titleOf(row)} />
      </h1>
      <p class="checkpoint-facts">
        <Author name={row.author} />
        <DateAndTime at={row.createdAt} />
        {row.files > 0 ? <span>{count(row.files, 'file')}</span> : <span>no file changed</span>}
        {row.files > 0 ? <Figures insertions={row.insertions} deletions={row.deletions} /> : null}
        <code class="muted">{row.id}</code>
        <Marks row={row} />
      </p>
      <Origin row={row} />
      <div class="checkpoint-actions">
        <Actions row={row} />
        <nav class="neighbors" aria-label="Other checkpoints">
          <Neighbor id={neighbors.older} keyName="[">
            ← Previous
          </Neighbor>
          <Neighbor id={neighbors.newer} keyName="]">
            Next →
          </Neighbor>
        </nav>
      </div>
    </header>
  )
}

function Neighbor(props: {
  readonly id: string | undefined
  readonly keyName: string
  readonly children: ComponentChildren
}): VNode {
  const { id, keyName, children } = props
  if (id === undefined) return <span class="muted">{children}</span>
  const tab = route.value.query.get('tab') ?? undefined
  return (
    <a
      href={addressOf(checkpointPath(id), { tab })}
      onClick={followLink}
      aria-keyshortcuts={keyName}
    >
      {children}
    </a>
  )
}

/** The prompt and the session. */
function Origin({ row }: { readonly row: Row }): VNode | null {
  const prompt = promptOf(row)
  if (row.session === null) return null
  return (
    <p class="checkpoint-facts">
      {prompt === undefined ? null : (
        <span class="origin-prompt">
          <span class="muted">Prompt</span>{' '}
          <a href={addressOf(checkpointPath(prompt.id))} onClick={followLink}>
            <Line text={titleOf(prompt)} />
          </a>
        </span>
      )}
      <span>
        <span class="muted">Session</span>{' '}
        <a href={addressOf(sessionPath(row.session), { at: row.id })} onClick={followLink}>
          <Line text={`${row.sessionAgent ?? ''} ${shortSession(row.session)}`.trim()} />
        </a>
      </span>
    </p>
  )
}

function Actions({ row }: { readonly row: Row }): VNode | null {
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const { id, pinned, name } = row
  const restore = () => openRestore({ kind: 'rewind', ref: id })
  const canUndo = start.value?.isExport !== true && canUndoStep(row)
  const undo = canUndo ? () => openRestore({ kind: 'undoStep', ref: id }) : undefined
  useShortcuts(
    [
      { key: 'r', label: restoreWord.value, run: restore },
      ...(undo === undefined ? [] : [{ key: 'U', label: undoStepWord.value, run: undo }]),
    ],
    [id, undo === undefined],
  )
  const pin = async () => {
    try {
      await call('pin', { project: project.peek(), ref: id, pinned: !pinned })
      setProblem(undefined)
      await refresh()
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      setProblem(error.message)
    }
  }
  if (start.value?.isExport === true) return null
  const isReadOnly = start.value?.isReadOnly === true
  return (
    <>
      <button class="button" data-kind="primary" type="button" onClick={restore}>
        {restoreWord.value}
      </button>
      {undo === undefined ? null : (
        <button class="button" type="button" onClick={undo}>
          {undoStepWord.value}
        </button>
      )}
      {isReadOnly ? null : (
        <>
          {row.session === null ? null : (
            <button
              class="button"
              type="button"
              onClick={() => {
                openDialog.value = { dialog: 'fork', ref: id }
              }}
            >
              Fork
            </button>
          )}
          <button
            class="button"
            type="button"
            onClick={() => {
              openDialog.value = { dialog: 'name', ref: id }
            }}
          >
            {name === null ? 'Name' : 'Rename'}
          </button>
          <button class="button" type="button" aria-pressed={pinned} onClick={() => void pin()}>
            {pinned ? 'Unpin' : 'Pin'}
          </button>
        </>
      )}
      <a class="button" href={addressOf('/compare', { a: id })} onClick={followLink}>
        Compare
      </a>
      {problem === undefined ? null : <span role="alert">{problem}</span>}
    </>
  )
}

/** The first part of an id such as 3f0c6f0e-6a51-…. */
function shortSession(id: string): string {
  return /^[\da-f]{8}-[\da-f-]{27}$/.test(id) ? id.slice(0, 8) : id
}
