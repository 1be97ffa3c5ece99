// Shared by all views: the project, its checkpoints, whether the server answers. Each view loads the rest of its data itself.
import { computed, signal } from '@preact/signals'
import type { Here, Output, Row, Start } from '../../src/ui/api.js'
import { notice } from './dialogs.js'
import { keepNotice } from './kept-notice.js'
import { route } from './router.js'
import { call, events, RequestError } from './transport.js'

/** Undefined until the first answer. */
export const start = signal<Start | undefined>(undefined)
export const startError = signal<RequestError | undefined>(undefined)
export const rows = signal<readonly Row[]>([])
/** All checkpoints of the project are in `rows`. */
export const isComplete = signal(false)
/** A read-only page shows what a restore would do, and never restores. */
export const restoreWord = computed(() =>
  start.value?.isReadOnly === true ? 'Show plan' : 'Restore…',
)
export const undoStepWord = computed(() =>
  start.value?.isReadOnly === true ? 'Show plan to undo this step' : 'Undo this step',
)
/** Undefined until the folder has been scanned. */
export const here = signal<Here | undefined>(undefined)
/** Why the folder could not be compared with its newest checkpoint. */
export const hereError = signal<RequestError | undefined>(undefined)
/** `connecting` until the first event. `gone`: no server answers. `refused`: another one answers, with another key. */
export const connection = signal<'connecting' | 'live' | 'gone' | 'refused'>('connecting')
export const project = computed(() => start.value?.project ?? '')
export const rowOf = computed(() => new Map(rows.value.map((row) => [row.id, row])))
/** Counts the changes of the store, for views that load their data again. */
export const storeVersion = signal(0)
/** Counts the times that the folder may have changed: with the store, or while the user worked in another window. */
export const folderVersion = signal(0)

export function canUndoStep({ hasFiles, filesPruned, files }: Row): boolean {
  return hasFiles && filesPruned !== true && files > 0
}

const PAGE = 2000
const RETRY_MS = 2000
/** Errors that end the connection. */
const LOST: readonly string[] = ['SERVER_GONE', 'ACCESS_REFUSED']

let loads = 0
/** Resolves when the project is loaded, or could not be. */
let loading: Promise<unknown> = Promise.resolve()

/** Loads the project of the address. Called at the start and when the user chooses another project. */
export async function loadProject(): Promise<void> {
  loads += 1
  const load = loads
  const wanted = route.peek().query.get('project')
  try {
    const asked = call('start', wanted === null ? {} : { project: wanted })
    loading = asked.catch(() => undefined)
    const answer = await asked
    // The user has chosen another project meanwhile.
    if (load !== loads) return
    const before = start.peek()
    const isSame = answer.project === before?.project
    // Its Undo would undo a rewind of the other project.
    if (before !== undefined && !isSame) notice.value = undefined
    start.value = answer
    if (before === undefined && !answer.isExport) keepNotice(project)
    startError.value = undefined
    rows.value = answer.rows
    isComplete.value = !answer.hasMore
    if (!isSame) here.value = undefined
    void loadHere()
    await loadOlder()
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    if (load === loads) startError.value = error
  }
}

let scan: Promise<void> | undefined
let isScanOutdated = false

/** Scans the folder, so it is not part of the first answer. Requests during a scan are answered by one more scan. */
export function loadHere(): Promise<void> {
  if (scan !== undefined) {
    isScanOutdated = true
    return scan
  }
  scan = scanFolder().finally(() => {
    scan = undefined
    if (!isScanOutdated) return
    isScanOutdated = false
    void loadHere()
  })
  return scan
}

async function scanFolder(): Promise<void> {
  const { project: path, isExport } = start.peek() ?? {}
  if (path === undefined || path === null || isExport === true) return
  const shown = notice.peek()
  try {
    const found = await call('here', { project: path })
    if (path !== project.peek()) return
    here.value = found
    hereError.value = undefined
    if (notice.peek() === shown) dropOldUndo(found)
  } catch (error) {
    // A missing folder is one reason. The timeline says so; the rest works.
    if (!(error instanceof RequestError)) throw error
    // The bar for a server that has ended says it. The folder is scanned again when the server is back.
    if (path !== project.peek() || error.code === 'SERVER_GONE') return
    here.value = undefined
    hereError.value = error
  }
}

/** A terminal or another page has undone the rewind of the bar, or made another one, which its Undo would take back instead. */
function dropOldUndo({ undo }: Here): void {
  const shown = notice.peek()
  if (shown === undefined || shown.rewoundAt === null || shown.rewoundAt === undo?.rewoundAt) return
  // The command for the copy of the conversation is shown nowhere else.
  notice.value = shown.command === null ? undefined : { ...shown, rewoundAt: null }
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

let refreshing: Promise<void> = Promise.resolve()

/**
 * Puts the newest rows in front of the known ones. Loads all of them again if others were removed. Calls run one after the other: an
 * older answer that arrives late would remove rows.
 */
export function refresh(): Promise<void> {
  // The caller of the previous one handles its error.
  refreshing = refreshing.then(refreshOnce, refreshOnce)
  return refreshing
}

async function refreshOnce(): Promise<void> {
  // Its answer may be older, and would replace the rows of a newer one.
  await loading
  const path = project.peek()
  const answer = await call('start', path === '' ? {} : { project: path })
  if (path !== project.peek()) return
  const known = rows.peek()
  const last = answer.rows.at(-1)
  const overlap = last === undefined ? -1 : known.findIndex(({ id }) => id === last.id)
  const older = overlap < 0 ? [] : known.slice(overlap + 1)
  const isWhole = answer.rows.length + older.length === answer.total || !isComplete.peek()
  if (overlap >= 0 && isWhole) rows.value = [...answer.rows, ...older]
  else {
    // The list is replaced when it is whole, so that the scroll position stays.
    const others = await loadAllAfter(answer, path)
    if (path !== project.peek()) return
    rows.value = [...answer.rows, ...others]
    isComplete.value = true
  }
  start.value = answer
  storeVersion.value += 1
  folderVersion.value += 1
  // A failed scan is recorded in the store, which is a change: repeat it only if there is a new checkpoint.
  const hasNew = answer.rows[0]?.id !== known[0]?.id
  if (hasNew || hereError.peek() === undefined) void loadHere()
  // Not awaited: the next change would wait for thousands of older rows.
  void loadOlder()
  updateOlderSoon()
}

/** At most one reading of all rows in this time, however often the store changes. */
const OLDER_MS = 3000
let isOlderPlanned = false

/** `start` has the newest rows only. An older one may have been named, pinned or pruned, or found damaged. */
function updateOlderSoon(): void {
  if (isOlderPlanned || start.peek()?.hasMore !== true) return
  isOlderPlanned = true
  window.setTimeout(() => {
    isOlderPlanned = false
    void updateOlder()
  }, OLDER_MS)
}

async function updateOlder(): Promise<void> {
  const path = project.peek()
  let before = start.peek()?.rows.at(-1)?.id
  while (before !== undefined) {
    const page = await readRowsBefore(path, before)
    if (path !== project.peek()) return
    replaceRows(page.rows)
    before = page.hasMore ? page.rows.at(-1)?.id : undefined
  }
}

async function readRowsBefore(path: string, before: string): Promise<Output<'rows'>> {
  try {
    return await call('rows', { project: path, before, limit: PAGE })
  } catch (error) {
    // The row was removed, which is a change of its own. Without a server, everything is loaded when it is back.
    const isHandled =
      error instanceof RequestError && [...LOST, 'CHECKPOINT_UNKNOWN'].includes(error.code)
    if (!isHandled) throw error
    return { rows: [], hasMore: false }
  }
}

/** Known rows that are still the same keep their identity. */
function replaceRows(found: readonly Row[]): void {
  const changed = new Map(
    found.flatMap((row) => {
      const known = rowOf.peek().get(row.id)
      const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(row)
      return isSame ? [] : [[row.id, row] as const]
    }),
  )
  if (changed.size > 0) rows.value = rows.peek().map((row) => changed.get(row.id) ?? row)
}

async function loadAllAfter(answer: Start, path: string): Promise<readonly Row[]> {
  const loaded: Row[] = []
  let { hasMore } = answer
  let before = answer.rows.at(-1)?.id
  while (hasMore && before !== undefined) {
    const page = await call('rows', { project: path, before, limit: PAGE })
    loaded.push(...page.rows)
    before = page.rows.at(-1)?.id
    hasMore = page.hasMore
  }
  return loaded
}

/** Shows the answer of `name` or `pin` before the server reports the change. */
export function replaceRow(changed: Row): void {
  replaceRows([changed])
}

/**
 * Follows the store until the page is closed, and reconnects when the server is back. `onError` receives failures of a server that
 * does answer.
 */
export async function follow(
  signal: AbortSignal,
  { onError }: { readonly onError: (error: RequestError) => void },
): Promise<void> {
  let wasLive = false
  while (!signal.aborted && start.peek()?.isExport !== true) {
    try {
      for await (const { type } of events(signal)) {
        const isBack = connection.peek() !== 'live' && wasLive
        connection.value = 'live'
        wasLive = true
        if (startError.peek()?.code === 'SERVER_GONE') await loadProject()
        else if (type === 'changed' || isBack)
          await refresh().catch((error: unknown) => {
            if (!(error instanceof RequestError) || LOST.includes(error.code)) throw error
            onError(error)
          })
      }
      connection.value = 'gone'
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof RequestError || error instanceof TypeError)) throw error
      const isRefused = error instanceof RequestError && error.code === 'ACCESS_REFUSED'
      connection.value = isRefused ? 'refused' : 'gone'
    }
    await new Promise((resolve) => window.setTimeout(resolve, RETRY_MS))
  }
}
