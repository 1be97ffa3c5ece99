// What all views share: the project, its checkpoints, whether the server answers. Views load what only they show.
import { computed, signal } from '@preact/signals'
import type { Here, Row, Start } from '../../src/ui/api.js'
import { route } from './router.js'
import { call, events, RequestError } from './transport.js'

/** Undefined until the first answer. */
export const start = signal<Start | undefined>(undefined)
export const startError = signal<RequestError | undefined>(undefined)
export const rows = signal<readonly Row[]>([])
/** All checkpoints of the project are in `rows`. */
export const isComplete = signal(false)
export const here = signal<Here | undefined>(undefined)
/** The events of the server arrive. */
export const isLive = signal(false)
export const project = computed(() => start.value?.project ?? '')
export const rowOf = computed(() => new Map(rows.value.map((row) => [row.id, row])))
/** Counts the changes of the store, for views that load their data again. */
export const storeVersion = signal(0)

const PAGE = 2000
const RETRY_MS = 2000

/** Loads the project of the address. Called at the start and when the user chooses another project. */
export async function loadProject(): Promise<void> {
  const wanted = route.peek().query.get('project')
  try {
    const answer = await call('start', wanted === null ? {} : { project: wanted })
    start.value = answer
    startError.value = undefined
    rows.value = answer.rows
    isComplete.value = !answer.hasMore
    here.value = undefined
    void loadHere()
    void loadOlder()
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    startError.value = error
  }
}

/** Scans the folder, so it is not part of the first answer. */
export async function loadHere(): Promise<void> {
  const { project: path, isExport } = start.peek() ?? {}
  if (path === undefined || path === null || isExport === true) return
  try {
    here.value = await call('here', { project: path })
  } catch (error) {
    // Without it the page does not know where the folder stands; a missing folder is one reason.
    if (!(error instanceof RequestError)) throw error
    here.value = undefined
  }
}

/** In pages, so that the first view is usable before the oldest checkpoint is known. */
async function loadOlder(): Promise<void> {
  while (!isComplete.peek()) {
    const path = project.peek()
    const before = rows.peek().at(-1)?.id
    if (before === undefined) return
    const page = await call('rows', { project: path, before, limit: PAGE })
    // The user has changed the project, or a change has reloaded the rows.
    if (path !== project.peek() || rows.peek().at(-1)?.id !== before) return
    rows.value = [...rows.peek(), ...page.rows]
    isComplete.value = !page.hasMore
  }
}

/** Puts the newest rows in front of the known ones. Loads all of them again if others were removed. */
export async function refresh(): Promise<void> {
  const path = project.peek()
  const answer = await call('start', path === '' ? {} : { project: path })
  if (path !== project.peek()) return
  const known = rows.peek()
  const last = answer.rows.at(-1)
  const overlap = last === undefined ? -1 : known.findIndex(({ id }) => id === last.id)
  const older = overlap < 0 ? [] : known.slice(overlap + 1)
  const isWhole = answer.rows.length + older.length === answer.total || !isComplete.peek()
  start.value = answer
  const keeps = overlap >= 0 && isWhole
  rows.value = keeps ? [...answer.rows, ...older] : answer.rows
  if (!keeps) {
    isComplete.value = !answer.hasMore
    void loadOlder()
  }
  storeVersion.value += 1
  void loadHere()
}

/** Follows the store until the page is closed, and reconnects when the server is back. */
export async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { type } of events(signal)) {
        isLive.value = true
        if (type === 'changed') await refresh()
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof RequestError || error instanceof TypeError)) throw error
    }
    isLive.value = false
    await new Promise((resolve) => window.setTimeout(resolve, RETRY_MS))
  }
}
