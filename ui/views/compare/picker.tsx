// Chooses a checkpoint by its words, its name, its id, its session or its agent. Without words it offers the folder, the named ones and the newest.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Row } from '../../../src/ui/api.js'
import { rowOf, rows } from '../../app/model.js'
import { titleOf } from '../../components/checkpoint-summary.js'
import { Combobox, type Suggestion } from '../../components/combobox.js'
import { Line, relativeTime } from '../../components/text.js'
import { matchRows } from './match-rows.js'

/** In the place of an id: the folder as it is. */
export const NOW = 'now'

export function Picker(props: {
  readonly letter: 'A' | 'B'
  readonly current: string
  readonly onPick: (id: string) => void
}): VNode {
  const { letter, current, onPick } = props
  // Undefined while the user does not type.
  const [words, setWords] = useState<string | undefined>(undefined)
  const row = rowOf.value.get(current)
  const name = current === NOW ? 'Now' : row === undefined ? current : titleOf(row)
  const pick = (id: string) => {
    setWords(undefined)
    onPick(id)
  }
  const now: readonly Suggestion[] =
    letter === 'B' && NOW.startsWith(words ?? '')
      ? [{ key: NOW, content: 'Now: your folder', onTake: () => pick(NOW) }]
      : []
  const found = matchRows(rows.value, words ?? '').map((one) => ({
    key: one.id,
    content: <Choice row={one} />,
    onTake: () => pick(one.id),
  }))
  return (
    <Combobox
      id={`picker-${letter}`}
      label={`Checkpoint ${letter}`}
      text={words ?? name}
      placeholder="Words, a name, a session or an id"
      suggestions={[...now, ...found]}
      onInput={setWords}
      onClose={() => setWords(undefined)}
    />
  )
}

function Choice({ row }: { readonly row: Row }): VNode {
  return (
    <span class="choice-row">
      <span class="choice-title">
        {row.name === null ? null : (
          <strong>
            ◆ <Line text={row.name} />{' '}
          </strong>
        )}
        <Line text={titleOf(row)} />
      </span>
      <span class="muted">
        {relativeTime(row.createdAt)} · {row.id}
        {row.session === null ? null : (
          <>
            {' · '}
            <Line text={`${row.sessionAgent ?? 'session'} ${row.session.slice(0, 24)}`} />
          </>
        )}
      </span>
    </span>
  )
}
