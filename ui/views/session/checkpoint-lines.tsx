// The thin lines between the items of a conversation: the checkpoints made there. Several at one position are one line until opened.
import type { VNode } from 'preact'
import { openDialog, openRestore } from '../../app/dialogs.js'
import { restoreWord, start } from '../../app/model.js'
import { addressOf, checkpointPath, followLink } from '../../app/router.js'
import { sumSteps } from '../../components/format.js'
import { count, Line, SumText, Time } from '../../components/text.js'
import type { ConversationData } from './conversation-data.js'
import type { PageCheckpoint } from './session-page.js'

export function CheckpointLines(props: {
  readonly checkpoints: readonly PageCheckpoint[]
  readonly data: ConversationData
}): VNode | null {
  const { checkpoints, data } = props
  const last = checkpoints.at(-1)
  if (last === undefined) return null
  const key = `checkpoints ${last.id}`
  const isOpen = data.isToggled(key)
  if (checkpoints.length === 1 || isOpen)
    return (
      <div class="checkpoint-lines">
        {checkpoints.map((checkpoint) => (
          <CheckpointLine key={checkpoint.id} checkpoint={checkpoint} />
        ))}
        {isOpen ? (
          <button type="button" class="text-button" aria-expanded onClick={() => data.toggle(key)}>
            fold {count(checkpoints.length, 'checkpoint')}
          </button>
        ) : null}
      </div>
    )
  return (
    <div class="checkpoint-lines">
      <CheckpointLine checkpoint={last} of={checkpoints}>
        <button
          type="button"
          class="text-button"
          aria-expanded={false}
          onClick={() => data.toggle(key)}
        >
          {count(checkpoints.length, 'checkpoint')}
        </button>
      </CheckpointLine>
    </div>
  )
}

function CheckpointLine(props: {
  readonly checkpoint: PageCheckpoint
  /** Several checkpoints: the line is about all of them. */
  readonly of?: readonly PageCheckpoint[]
  readonly children?: VNode
}): VNode {
  const { checkpoint, of = [checkpoint], children } = props
  const { id, createdAt, reason, hasFiles } = checkpoint
  const sum = sumSteps(of)
  const { isReadOnly = true, isExport = true } = start.value ?? {}
  const canChange = !isReadOnly && !isExport
  return (
    <div class="checkpoint-line" data-checkpoint={id}>
      <span class="checkpoint-dot" aria-hidden="true">
        ◆
      </span>
      <Time at={createdAt} />
      {children ?? (
        <span class="checkpoint-reason">{reason === null ? id : <Line text={reason} />}</span>
      )}
      {sum.files === 0 ? <span class="muted">no file changed</span> : <SumText sum={sum} />}
      <span class="checkpoint-rule" />
      <span class="line-actions">
        {!isExport && hasFiles ? (
          <button
            type="button"
            class="text-button"
            onClick={() => openRestore({ kind: 'rewind', ref: id })}
          >
            {restoreWord.value.toLowerCase()}
          </button>
        ) : null}
        {canChange ? (
          <button
            type="button"
            class="text-button"
            onClick={() => {
              openDialog.value = { dialog: 'fork', ref: id }
            }}
          >
            fork
          </button>
        ) : null}
        <a href={addressOf(checkpointPath(id))} onClick={followLink}>
          open
        </a>
      </span>
    </div>
  )
}
