// The header, the navigation, the bars and the current view, and the dialog above them.
import { Component, type ComponentChildren, type ComponentType, type VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { EmptyMessage, ErrorMessage, Loading } from '../components/states.js'
import { KeysDialog } from '../dialogs/keys.js'
import { NameDialog } from '../dialogs/name.js'
import { Timeline } from '../views/timeline/timeline.js'
import { Bars } from './bars.js'
import { openDialog, openRestore, type RestoreRequest } from './dialogs.js'
import { reportError } from './errors.js'
import { Header } from './header.js'
import { useShortcuts } from './keys.js'
import { lazy, Suspense } from './lazy.js'
import { folderVersion, loadHere, loadProject, project, start, startError } from './model.js'
import { focusView, nameOfFolder, titleOfView } from './page-title.js'
import { addressOf, followLink, route, type View } from './router.js'
import { RequestError } from './transport.js'

// Only the timeline is part of the first load.
const VIEWS: Readonly<Record<Exclude<View, 'unknown'>, ComponentType>> = {
  timeline: Timeline,
  checkpoint: lazy(async () => (await import('../views/checkpoint/checkpoint.js')).Checkpoint),
  sessions: lazy(async () => (await import('../views/session/sessions.js')).Sessions),
  session: lazy(async () => (await import('../views/session/session.js')).SessionView),
  compare: lazy(async () => (await import('../views/compare/compare.js')).Compare),
  file: lazy(async () => (await import('../views/file/file.js')).FileHistory),
  search: lazy(async () => (await import('../views/search/search.js')).Search),
  store: lazy(async () => (await import('../views/store/store.js')).StoreView),
}
type Closing = { readonly onClose: () => void }
const RestoreDialog = lazy<{ readonly request: RestoreRequest } & Closing>(
  async () => (await import('../dialogs/restore.js')).RestoreDialog,
)
const Fork = lazy<{ readonly checkpoint: string } & Closing>(async () => {
  const { ForkDialog } = await import('../dialogs/fork.js')
  // JSX reserves `ref` for elements.
  return ({ checkpoint, onClose }) => ForkDialog({ ref: checkpoint, onClose })
})

const NAVIGATION = [
  ['/', 'Timeline', ['timeline', 'checkpoint']],
  ['/sessions', 'Sessions', ['sessions', 'session']],
  ['/files', 'Files', ['file']],
  ['/compare', 'Compare', ['compare']],
  ['/store', 'Store', ['store']],
] as const

export function Frame(): VNode {
  const { view, id, query } = route.value
  const wanted = query.get('project') ?? undefined
  useEffect(() => void loadProject(), [wanted])
  useEffect(() => {
    document.title = titleOfView(view, nameOfFolder(project.value))
  }, [view, project.value])
  useEffect(() => focusView(), [view, id])
  useEffect(() => {
    // The user may have edited files in another window.
    const check = () => {
      folderVersion.value += 1
      void loadHere()
    }
    window.addEventListener('focus', check)
    return () => window.removeEventListener('focus', check)
  }, [])
  useShortcuts(
    [
      { key: '/', label: 'Search', run: () => document.getElementById('search')?.focus() },
      { key: '?', label: 'Show the shortcuts', run: () => (openDialog.value = { dialog: 'keys' }) },
    ],
    [],
  )
  const canChange = start.value?.isReadOnly === false
  const undo = () => openRestore({ kind: 'undo' })
  // Apart from the others: shortcuts that are added again come before those of the view.
  useShortcuts(canChange ? [{ key: 'u', label: 'Undo the last rewind', run: undo }] : [], [
    canChange,
  ])
  return (
    <div class="frame">
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // The fragment is the address of an exported page.
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        Skip to the content
      </a>
      <Header />
      <Bars />
      <nav class="rail" aria-label="Views">
        {NAVIGATION.map(([path, label, views]) => (
          <a
            key={path}
            href={addressOf(path)}
            onClick={followLink}
            aria-current={(views as readonly View[]).includes(view) ? 'page' : undefined}
          >
            <RailIcon name={label} />
            {label}
          </a>
        ))}
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        <Boundary key={`${view} ${id}`}>
          <Current view={view} />
        </Boundary>
      </main>
      <CurrentDialog />
    </div>
  )
}

function Current({ view }: { readonly view: View }): VNode {
  const error = startError.value
  if (start.value === undefined && error === undefined) return <Loading what="the store" />
  if (error?.code === 'NO_TOKEN') return <NoView title="Nothing is loaded" />
  if (start.value === undefined || (error !== undefined && error.code !== 'SERVER_GONE'))
    return (
      <>
        <h1 class="visually-hidden">Savestate</h1>
        <ErrorMessage error={error ?? new RequestError('INTERNAL', 'Nothing was loaded', null)} />
        <p class="state-message">
          <a href="/" onClick={followLink}>
            Show the project that Savestate was started in
          </a>
        </p>
      </>
    )
  if (view === 'unknown') return <NoView title="There is no such page" />
  const Shown = VIEWS[view]
  return (
    <Suspense fallback={<Loading what="the view" />}>
      <Shown />
    </Suspense>
  )
}

/** In the place of a view: every view has a heading of the first level. */
function NoView({ title }: { readonly title: string }): VNode {
  return (
    <>
      <h1 class="visually-hidden">Savestate</h1>
      <EmptyMessage title={title} />
    </>
  )
}

function CurrentDialog(): VNode | null {
  const open = openDialog.value
  // A restore that ends after its dialog was closed must not close the next one.
  const onClose = () => {
    if (openDialog.peek() === open) openDialog.value = undefined
  }
  switch (open?.dialog) {
    case undefined:
      return null
    case 'keys':
      return <KeysDialog onClose={onClose} />
    case 'name':
      return <NameDialog key={open.ref} checkpoint={open.ref} onClose={onClose} />
    case 'fork':
      return <Fork key={open.ref} checkpoint={open.ref} onClose={onClose} />
    case 'restore':
      return <RestoreDialog key={open} request={open.request} onClose={onClose} />
  }
}

/** An error while drawing a view leaves the frame usable. */
class Boundary extends Component<{ readonly children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false }
  static override getDerivedStateFromError() {
    return { failed: true }
  }
  override componentDidCatch(error: unknown): void {
    reportError(error)
  }
  override render(): ComponentChildren {
    return this.state.failed ? <NoView title="This view cannot be shown" /> : this.props.children
  }
}

const ICONS: Readonly<Record<string, string>> = {
  Timeline: 'M5 2v12M5 4h8M5 8h6M5 12h8',
  Sessions: 'M2 3h12v8H7l-3 3v-3H2z',
  Files: 'M4 2h5l3 3v9H4zM9 2v3h3',
  Compare: 'M3 3h4v10H3zM9 3h4v10H9z',
  Store: 'M3 4c0-2.6 10-2.6 10 0v8c0 2.6-10 2.6-10 0zM3 4c0 2.6 10 2.6 10 0M3 8c0 2.6 10 2.6 10 0',
}

function RailIcon({ name }: { readonly name: string }): VNode {
  return (
    <svg class="rail-icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={ICONS[name] ?? ''} />
    </svg>
  )
}
