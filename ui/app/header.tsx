// The header: project, search, whether the page is live, theme, help.
import type { VNode } from 'preact'
import { visibleText } from '../components/text.js'
import { openDialog } from './dialogs.js'
import { connection, start } from './model.js'
import { shortenHome } from './page-title.js'
import { addressOf, followLink, navigate, route } from './router.js'
import { nextTheme, theme } from './theme.js'

export function Header(): VNode {
  return (
    <header class="header">
      <a class="logo" href={addressOf('/')} onClick={followLink} aria-label="savestate">
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3 2v12M3 5h5a4 4 0 0 1 0 8H6M8.5 10.5 6 13l2.5 2.5" />
        </svg>
        <span class="logo-word">savestate</span>
      </a>
      <ProjectPicker />
      <SearchBox />
      {start.value?.isReadOnly === true ? <span class="badge">read-only</span> : null}
      {start.value?.isExport === true ? <span class="badge">export</span> : <LiveStatus />}
      <ThemeButton />
      <button
        type="button"
        class="icon-button help-button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={() => (openDialog.value = { dialog: 'keys' })}
      >
        ?
      </button>
    </header>
  )
}

function ProjectPicker(): VNode | null {
  const { projects = [], project } = start.value ?? {}
  if (projects.length === 0) return null
  return (
    <select
      class="project-picker"
      aria-label="Project"
      value={project ?? ''}
      onChange={({ currentTarget }) => openProject(currentTarget.value)}
    >
      {projects.map(({ path, isMissing }) => (
        <option key={path} value={path}>
          {visibleText(shortenHome(path))}
          {isMissing ? ' (folder is missing)' : ''}
        </option>
      ))}
    </select>
  )
}

/** Views of one checkpoint, session or file make no sense in another project. */
function openProject(path: string): void {
  const isGeneral = ['timeline', 'sessions', 'store'].includes(route.peek().view)
  navigate(addressOf(isGeneral ? location.pathname : '/', { project: path }))
}

function SearchBox(): VNode {
  const { view, query } = route.value
  return (
    <search class="search-box">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const words = new FormData(event.currentTarget).get('q')
          if (typeof words !== 'string' || words.trim() === '') return
          // The results get the focus, unless the user returns to the field.
          document.getElementById('search')?.blur()
          navigate(addressOf('/search', { q: words.trim() }))
        }}
      >
        <input
          id="search"
          name="q"
          type="search"
          class="input"
          aria-label="Search prompts, calls, names and paths"
          placeholder="Search"
          autoComplete="off"
          spellcheck={false}
          defaultValue={view === 'search' ? (query.get('q') ?? '') : ''}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
        <kbd aria-hidden="true">/</kbd>
      </form>
    </search>
  )
}

const LIVE = {
  connecting: ['connecting', 'The page is connecting to Savestate'],
  live: ['live', 'New checkpoints appear by themselves'],
  gone: ['offline', 'Savestate does not answer'],
  refused: ['offline', 'Savestate was started again with another key'],
} as const

function LiveStatus(): VNode {
  const [word, title] = LIVE[connection.value]
  return (
    <span
      class="live"
      role="status"
      data-live={connection.value === 'live' ? 'on' : 'off'}
      data-connection={connection.value}
      title={title}
    >
      <span class="live-dot" aria-hidden="true" />
      <span class="live-word">{word}</span>
    </span>
  )
}

const THEME_SIGNS = { system: '◐', light: '○', dark: '●' } as const

function ThemeButton(): VNode {
  const label = `Theme: ${theme.value === 'system' ? 'as the system' : theme.value}`
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={nextTheme}>
      <span aria-hidden="true">{THEME_SIGNS[theme.value]}</span>
    </button>
  )
}
