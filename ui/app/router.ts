// The address holds the whole state of the page, so that Back works and an address can be kept.
//   /                 timeline            /c/<id>?tab=&file=   checkpoint      /sessions, /s/<id>?at=   conversations
//   /compare?a=&b=    compare             /files?path=         file history    /search?q=, /store
// `project` is in the query if it is not the one that the program was started in.
import { computed, signal } from '@preact/signals'

export type View =
  | 'timeline'
  | 'checkpoint'
  | 'sessions'
  | 'session'
  | 'compare'
  | 'file'
  | 'search'
  | 'store'
  | 'unknown'

export type Route = {
  readonly view: View
  /** The checkpoint or session of the path; '' for others. */
  readonly id: string
  readonly query: URLSearchParams
}

// A page that was exported to a file cannot change its path, so its address is in the fragment.
const isFile = location.protocol === 'file:'
const FRAGMENT = isFile ? '#' : ''

const address = signal(readAddress())
window.addEventListener('popstate', () => {
  address.value = readAddress()
})

function readAddress(): string {
  const path = isFile ? location.hash.slice(1) : location.pathname + location.search
  return path.startsWith('/') ? path : '/'
}

export const route = computed(() => parseRoute(new URL(address.value, 'http://page.invalid')))

const PLAIN: Readonly<Record<string, View>> = {
  '/': 'timeline',
  '/sessions': 'sessions',
  '/compare': 'compare',
  '/files': 'file',
  '/search': 'search',
  '/store': 'store',
}

function parseRoute({ pathname, searchParams: query }: URL): Route {
  const plain = PLAIN[pathname]
  if (plain !== undefined) return { view: plain, id: '', query }
  const [, kind, id] = /^\/([cs])\/([^/]+)$/.exec(pathname) ?? []
  const decoded = decode(id ?? '')
  if (decoded === undefined) return { view: 'unknown', id: '', query }
  const view = kind === 'c' ? 'checkpoint' : kind === 's' ? 'session' : 'unknown'
  return { view, id: decoded, query }
}

/** Undefined for an address that was mistyped, such as /c/%zz. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** `query`: undefined and '' are left out. The project of the current address is kept. */
export function addressOf(
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const params = new URLSearchParams()
  const project = route.peek().query.get('project')
  if (project !== null) params.set('project', project)
  for (const [key, value] of Object.entries(query))
    if (value === undefined || value === '') params.delete(key)
    else params.set(key, value)
  const text = params.toString()
  return FRAGMENT + (text === '' ? path : `${path}?${text}`)
}

export const checkpointPath = (id: string): string => `/c/${encodeURIComponent(id)}`
export const sessionPath = (id: string): string => `/s/${encodeURIComponent(id)}`

/** `replace`: no new entry in the history, for changes within a view such as the selected file. */
export function navigate(to: string, { replace = false } = {}): void {
  const path = to.startsWith('#') ? to.slice(1) : to
  if (path === address.peek()) return
  if (replace) history.replaceState(null, '', FRAGMENT + path)
  else history.pushState(null, '', FRAGMENT + path)
  address.value = path
}

/** For links: lets the browser handle clicks that open a new tab. */
export function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const { currentTarget } = event
  if (!(currentTarget instanceof HTMLAnchorElement)) return
  event.preventDefault()
  navigate(isFile ? currentTarget.hash : currentTarget.pathname + currentTarget.search)
}
