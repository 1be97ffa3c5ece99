// Two checkpoints side by side, or a checkpoint and the folder: /compare?a=&b=&file=. `now` is the folder, and always B.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Output, Range, Row } from '../../../src/ui/api.js'
import { openRestore } from '../../app/dialogs.js'
import { folderVersion, here, project, rowOf, rows, start } from '../../app/model.js'
import { addressOf, navigate, route } from '../../app/router.js'
import { call } from '../../app/transport.js'
import { CheckpointSummary } from '../../components/checkpoint-summary.js'
import { FileDiff } from '../../components/diff/file-diff.js'
import { FileList } from '../../components/file-list.js'
import { EmptyMessage, ErrorMessage, Loading, useLoaded } from '../../components/states.js'
import { count, Figures } from '../../components/text.js'
import { NOW, Picker } from './picker.js'

function go(query: { readonly a: string; readonly b: string; readonly file?: string }): void {
  navigate(addressOf('/compare', query), { replace: true })
}

export function Compare(): VNode {
  const { query } = route.value
  const a = query.get('a') ?? rows.value.find(({ hasFiles }) => hasFiles)?.id
  const b = query.get('b') ?? NOW
  if (a === undefined)
    return (
      <div class="view" data-view="compare" data-state="empty">
        <h1 class="visually-hidden">Compare</h1>
        <EmptyMessage title="There is nothing to compare">
          <p>This project has no checkpoint with files.</p>
        </EmptyMessage>
      </div>
    )
  return <Comparison key={`${project.value} ${a} ${b}`} a={a} b={b} />
}

function Comparison({ a, b }: { readonly a: string; readonly b: string }): VNode {
  const at = { project: project.value, ref: a }
  const range: Range = b === NOW ? { ...at, with: 'now' } : { ...at, with: 'checkpoint', to: b }
  const version = b === NOW ? folderVersion.value : 0
  const loaded = useLoaded(async (signal) => call('changes', range, { signal }), [version])
  return (
    <div class="view compare" data-view="compare" data-state={loaded.state}>
      <h1 class="visually-hidden">Compare</h1>
      <header class="compare-header">
        <Side letter="A" id={a} onPick={(id) => go({ a: id, b })} />
        <button
          class="button"
          type="button"
          disabled={b === NOW}
          title={b === NOW ? 'The folder is always on the right' : 'Swap A and B'}
          onClick={() => go({ a: b, b: a })}
        >
          ⇄ Swap
        </button>
        <Side letter="B" id={b} onPick={(id) => go({ a, b: id })} />
      </header>
      {loaded.state === 'loading' ? (
        <Loading what="the comparison" />
      ) : loaded.state === 'error' ? (
        <ErrorMessage error={loaded.error} />
      ) : (
        <Differences {...{ a, b, range, version }} result={loaded.value} />
      )}
    </div>
  )
}

function Side(props: {
  readonly letter: 'A' | 'B'
  readonly id: string
  readonly onPick: (id: string) => void
}): VNode {
  const { letter, id, onPick } = props
  const row = rowOf.value.get(id)
  return (
    <section class="compare-side" aria-label={letter}>
      <div class="compare-pick">
        <strong class="compare-letter">{letter}</strong>
        <Picker letter={letter} current={id} onPick={onPick} />
      </div>
      {id === NOW ? <Now /> : row === undefined ? null : <CheckpointSummary row={row} />}
    </section>
  )
}

function Now(): VNode {
  const changed = here.value?.changed
  return (
    <div class="checkpoint-summary">
      <strong>Your folder now</strong>
      <div class="checkpoint-facts muted">
        {changed === undefined || changed.files === 0 ? (
          'As in the newest checkpoint'
        ) : (
          <>
            {count(changed.files, 'file')} changed since the newest checkpoint{' '}
            <Figures insertions={changed.insertions} deletions={changed.deletions} />
          </>
        )}
      </div>
    </div>
  )
}

const GROUPS = [
  { title: 'Different', has: ['modified', 'type', 'mode'] },
  { title: 'Only in A', has: ['removed'] },
  { title: 'Only in B', has: ['added'] },
]

function Differences(props: {
  readonly a: string
  readonly b: string
  readonly range: Range
  readonly version: number
  readonly result: Output<'changes'>
}): VNode {
  const { a, b, range, version } = props
  const { changes, files, insertions, deletions } = props.result
  const [filter, setFilter] = useState('')
  const wanted = filter.toLowerCase()
  const shown = changes.filter(({ path }) => path.toLowerCase().includes(wanted))
  const file = route.value.query.get('file')
  const groups = GROUPS.map(({ title, has }) => ({
    title,
    files: shown.filter(({ change }) => has.includes(change)),
  })).filter(({ files }) => files.length > 0)
  const listed = groups.flatMap(({ files }) => files)
  const selected =
    listed.find(({ path }) => path === file) ??
    listed.find((one) => one.insertions !== null) ??
    listed[0]
  if (changes.length === 0)
    return (
      <EmptyMessage title="A and B have the same files">
        <p>Choose another checkpoint above.</p>
      </EmptyMessage>
    )
  return (
    <div class="changes">
      <aside class="changes-files" aria-label="Files that differ">
        <p class="changes-total">
          {count(files, 'file')} <Figures insertions={insertions} deletions={deletions} />
        </p>
        <input
          class="input"
          type="search"
          aria-label="Filter the files"
          placeholder="Filter the files"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        {groups.map(({ title, files }) => (
          <section key={title}>
            <h2 class="group-title">
              {title} <span class="muted">{files.length}</span>
            </h2>
            <FileList
              label={title}
              files={files}
              selected={selected?.path}
              onSelect={(path) => go({ a, b, file: path })}
            />
          </section>
        ))}
        {groups.length === 0 ? <p class="muted">No path has these words.</p> : null}
      </aside>
      {selected === undefined ? null : (
        <FileDiff
          range={range}
          path={selected.path}
          before={a}
          after={b === NOW ? null : b}
          version={version}
          actions={() => (
            <TakeActions {...{ a, b }} path={selected.path} change={selected.change} />
          )}
        />
      )}
    </div>
  )
}

function TakeActions(props: {
  readonly a: string
  readonly b: string
  readonly path: string
  readonly change: string
}): VNode | null {
  const { a, b, path, change } = props
  const { isReadOnly = false, isExport = false } = start.value ?? {}
  if (isExport) return null
  const label = (side: string) =>
    isReadOnly ? `Show plan for ${side}` : `Take this file from ${side}…`
  const take = (row: Row['id']) => () => openRestore({ kind: 'rewind', ref: row, paths: [path] })
  return (
    <>
      {change === 'added' ? null : (
        <button class="button" type="button" onClick={take(a)}>
          {label('A')}
        </button>
      )}
      {b === NOW || change === 'removed' ? null : (
        <button class="button" type="button" onClick={take(b)}>
          {label('B')}
        </button>
      )}
    </>
  )
}
