// One checkpoint: /c/<id>?tab=&file=. Each tab loads its own data when it is shown.
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useShortcuts } from '../../app/keys.js'
import { project, rowOf, rows, storeVersion } from '../../app/model.js'
import { addressOf, checkpointPath, navigate, route } from '../../app/router.js'
import { call } from '../../app/transport.js'
import { EmptyMessage, ErrorMessage, Loading, useLoaded } from '../../components/states.js'
import type { Details } from './details.js'
import { DetailsTab } from './details.js'
import { ChangesTab } from './changes.js'
import { FilesTab } from './files.js'
import { Header } from './header.js'
import { AtThisPoint } from './conversation-tab.js'

const TABS = [
  ['changed', 'Changed here'],
  ['since', 'Since then'],
  ['files', 'Files as they were'],
  ['conversation', 'Conversation'],
  ['details', 'Details'],
] as const
type Tab = (typeof TABS)[number][0]

export function Checkpoint(): VNode {
  const { id, query } = route.value
  const tab = TABS.find(([name]) => name === query.get('tab'))?.[0] ?? 'changed'
  const loaded = useLoaded(
    async (signal) => call('checkpoint', { project: project.value, ref: id }, { signal }),
    [id, project.value, storeVersion.value],
  )
  const details = loaded.state === 'ready' && loaded.value.id === id ? loaded.value : undefined
  const row = rowOf.value.get(id) ?? details
  const neighbors = useNeighbors(id)
  // The view is ready when its tab is.
  const panel = `${id} ${tab}`
  const [reported, setReported] = useState({ panel, state: 'loading' })
  const tabState = reported.panel === panel ? reported.state : 'loading'
  const onState = (state: string) => {
    if (reported.panel !== panel || reported.state !== state) setReported({ panel, state })
  }
  if (row === undefined)
    return (
      <div class="view" data-view="checkpoint" data-state={loaded.state}>
        <h1 class="visually-hidden">Checkpoint</h1>
        {loaded.state === 'error' ? (
          <ErrorMessage error={loaded.error} />
        ) : (
          <Loading what="the checkpoint" />
        )}
      </div>
    )
  return (
    <div
      class="view checkpoint"
      data-view="checkpoint"
      data-state={
        loaded.state !== 'ready' ? loaded.state : details === undefined ? 'loading' : tabState
      }
    >
      <Header row={row} neighbors={neighbors} />
      <Tabs current={tab} hasConversation={row.session !== null} />
      <div class="tab-panel" role="tabpanel" id="panel" aria-labelledby={`tab-${tab}`}>
        {row.damaged === true && tabState === 'ready' ? <DamageNote /> : null}
        {details === undefined && loaded.state === 'error' ? (
          <ErrorMessage error={loaded.error} />
        ) : (
          <Panel key={panel} {...{ tab, id, details, row, onState }} />
        )}
      </div>
    </div>
  )
}

function Panel(props: {
  readonly tab: Tab
  readonly id: string
  readonly row: NonNullable<ReturnType<typeof rowOf.value.get>>
  readonly details: Details | undefined
  readonly onState: (state: string) => void
}): VNode {
  const { tab, id, row, details, onState } = props
  const at = { project: project.value, ref: id }
  const hasFiles = row.hasFiles && row.filesPruned !== true
  const reports = hasFiles && (tab === 'changed' || tab === 'since' || tab === 'files')
  useEffect(() => {
    if (!reports) onState('ready')
  }, [reports])
  if (tab === 'conversation') return <AtThisPoint />
  if (tab === 'details')
    return details === undefined ? <Loading what="the details" /> : <DetailsTab details={details} />
  if (row.filesPruned === true)
    return (
      <EmptyMessage title="The files of this checkpoint were pruned">
        <p>
          Its conversation and its details are still there. Restoring its files is not possible.
        </p>
      </EmptyMessage>
    )
  if (!row.hasFiles)
    return (
      <EmptyMessage title="This checkpoint has no files">
        <p>It holds a conversation only.</p>
      </EmptyMessage>
    )
  if (tab === 'files') return <FilesTab of={id} onState={onState} />
  return tab === 'since' ? (
    <ChangesTab range={{ ...at, with: 'now' }} tab="since" onState={onState} />
  ) : (
    <ChangesTab range={{ ...at, with: 'previous' }} tab="changed" onState={onState} />
  )
}

function DamageNote(): VNode {
  return (
    <p class="banner" data-kind="danger" role="note">
      The store has lost a part of this checkpoint. The other parts are shown;{' '}
      <code>savestate verify</code> names what is missing.
    </p>
  )
}

function Tabs(props: { readonly current: Tab; readonly hasConversation: boolean }): VNode {
  const { current, hasConversation } = props
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const selected = list.current?.querySelector('[aria-selected=true]')
    selected?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [current])
  const shown = TABS.filter(([name]) => name !== 'conversation' || hasConversation)
  const select = (tab: Tab) =>
    navigate(
      addressOf(checkpointPath(route.peek().id), { tab: tab === 'changed' ? undefined : tab }),
      { replace: true },
    )
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = shown.findIndex(([name]) => name === current)
    const [next] = shown[(at + step + shown.length) % shown.length] ?? []
    if (next === undefined) return
    select(next)
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus()
  }
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label="Parts of the checkpoint"
      ref={list}
      onKeyDown={onKeyDown}
    >
      {shown.map(([name, label]) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={name === current}
          aria-controls={name === current ? 'panel' : undefined}
          tabIndex={name === current ? 0 : -1}
          onClick={() => select(name)}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

export type Neighbors = { readonly older: string | undefined; readonly newer: string | undefined }

function neighborsOf(id: string): Neighbors {
  const at = rows.value.findIndex((row) => row.id === id)
  if (at < 0) return { older: undefined, newer: undefined }
  return { older: rows.value[at + 1]?.id, newer: rows.value[at - 1]?.id }
}

/** The checkpoints around this one in the project, on `[` and `]`. */
function useNeighbors(id: string): Neighbors {
  const go = (to: keyof Neighbors) => {
    const { id: current, query } = route.peek()
    const next = neighborsOf(current)[to]
    if (next === undefined) return
    navigate(addressOf(checkpointPath(next), { tab: query.get('tab') ?? undefined }))
  }
  useShortcuts(
    [
      { key: '[', label: 'Previous checkpoint', run: () => go('older') },
      { key: ']', label: 'Next checkpoint', run: () => go('newer') },
    ],
    [],
  )
  // A new view begins at its top.
  useEffect(() => document.querySelector('#main')?.scrollTo({ top: 0 }), [id])
  return neighborsOf(id)
}
