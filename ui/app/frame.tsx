// The header, the navigation and the current view.
import type { ComponentType, VNode } from 'preact'
import { lazy, Suspense } from './lazy.js'
import { EmptyMessage, ErrorMessage, Loading } from '../components/states.js'
import { Timeline } from '../views/timeline/timeline.js'
import { start, startError } from './model.js'
import { addressOf, followLink, route, type View } from './router.js'

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

const NAVIGATION = [
  ['/', 'Timeline', ['timeline', 'checkpoint']],
  ['/sessions', 'Sessions', ['sessions', 'session']],
  ['/files', 'Files', ['file']],
  ['/compare', 'Compare', ['compare']],
  ['/store', 'Store', ['store']],
] as const

export function Frame(): VNode {
  const { view } = route.value
  return (
    <div class="frame">
      <header class="header">
        <a class="logo" href={addressOf('/')} onClick={followLink}>
          savestate
        </a>
      </header>
      <nav class="rail" aria-label="Views">
        {NAVIGATION.map(([path, label, views]) => (
          <a
            key={path}
            href={addressOf(path)}
            onClick={followLink}
            aria-current={(views as readonly View[]).includes(view) ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        <Current view={view} />
      </main>
    </div>
  )
}

function Current({ view }: { readonly view: View }): VNode {
  if (startError.value !== undefined) return <ErrorMessage error={startError.value} />
  if (start.value === undefined) return <Loading what="the store" />
  if (view === 'unknown') return <EmptyMessage title="There is no such page" />
  const Shown = VIEWS[view]
  return (
    <Suspense fallback={<Loading what="the view" />}>
      <Shown />
    </Suspense>
  )
}
