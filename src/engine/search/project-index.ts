// The index of a project's texts: opens it, brings it up to date, and removes it. Nothing has to keep it up to date: a search first adds
// the checkpoints that are new. If a checkpoint was removed, the whole file is removed and built again, so that no text stays in it.
//
// Every write is made under a lock, in a transaction, and reads the ledger only then. So the index never gets what a prune has removed
// from the ledger: the prune removes the file after its own transaction, under the same lock.
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../base/index.js'
import { type IndexedCheckpoint, SearchIndex, type SearchKey } from '../../ledger/index.js'
import {
  type Checkpoint,
  hasCode,
  hasFiles,
  parseCheckpointId,
  parseProjectId,
  pathText,
  type Project,
  type ProjectId,
} from '../../model/index.js'
import {
  failpoint,
  isCorrupt,
  isStatementFault,
  listIfExists,
  takeLock,
} from '../../system/index.js'
import { lockPath, type ProjectContext, type StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import { storeSettings } from '../store/settings.js'
import { type SaidText, conversationTexts } from './conversation-texts.js'

const SUFFIX = '.search'
const FILE = /^([bcdfghjklmnpqrstvwxz]{18})\.search$/
const LOCK_WAIT_MS = 60_000
/** Short enough for other work of the process, and for a prune that waits. */
const BATCH_MS = 100
const MAX_BATCH = 200

export type CheckpointText =
  | SaidText
  | { readonly where: 'name' | 'reason' | 'path'; readonly text: string }

/** False for an encrypted store, unless the user has allowed the index and the key is here. */
export function mayReadConversations({ home, ledger }: StoreContext): boolean {
  return !ledger.isEncrypted || storeSettings(home).config.searchIndex
}

/** Calls `read` with an index that has every checkpoint. A damaged one is removed and built again. */
export async function withProjectIndex<T>(
  context: ProjectContext,
  project: Project,
  {
    callbacks,
    read,
  }: { readonly callbacks: Callbacks; readonly read: (index: SearchIndex) => Promise<T> },
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const path = indexPath(context.home, project.id)
    let index: SearchIndex | undefined
    try {
      index = await updatedIndex(context, project, callbacks)
      return await read(index)
    } catch (error) {
      if (attempt > 2 || !isDamage(error, path)) throw error
      index?.close()
      index = undefined
      await removeUnderLock(context.home, project.id)
    } finally {
      index?.close()
    }
  }
}

/** All texts of a checkpoint that a search finds. */
export function textsOf(
  context: StoreContext,
  checkpoint: Checkpoint,
  { elements, changes }: Pick<IndexedCheckpoint, 'elements' | 'changes'>,
): readonly CheckpointText[] {
  const { name, reason, session } = checkpoint
  const metadata = mayReadConversations(context) ? session?.metadata : null
  const prompt = isRecord(metadata) ? metadata['prompt'] : null
  const state = session?.state ?? null
  const said =
    state === null || elements.length === 0
      ? []
      : context.ledger.search.values(state, elements).flatMap(conversationTexts)
  return [
    ...(name === null ? [] : [{ where: 'name', text: name } as const]),
    ...(reason === null ? [] : [{ where: 'reason', text: reason } as const]),
    ...(typeof prompt === 'string' ? [{ where: 'prompt', text: prompt } as const] : []),
    ...said,
    ...changes.map(([path]) => ({ where: 'path', text: path }) as const),
  ]
}

async function updatedIndex(
  context: ProjectContext,
  project: Project,
  callbacks: Callbacks,
): Promise<SearchIndex> {
  const path = indexPath(context.home, project.id)
  ensureFolder(join(context.home, 'cache'))
  const hasConversations = mayReadConversations(context)
  for (;;) {
    const index = SearchIndex.open(path, { hasConversations })
    if (index !== undefined) {
      const { ino } = statSync(path)
      let isDone = false
      try {
        // Without the lock: usually there is nothing to add.
        const news = compareKeys(index, context.ledger.search.keys(project.id))
        if (
          news !== undefined &&
          (news.length === 0 || (await addAll(context, { project, index, ino, callbacks })))
        ) {
          isDone = true
          return index
        }
      } finally {
        if (!isDone) index.close()
      }
    }
    await removeUnderLock(context.home, project.id)
  }
}

/** What to add or to replace, oldest first. Undefined if something that the index has was removed. */
function compareKeys(
  index: SearchIndex,
  keys: readonly SearchKey[],
): readonly SearchKey[] | undefined {
  const now = new Map(keys.map((key) => [key[0], key]))
  const known = index.known()
  const names = new Map(known.map(([seq, , name]) => [seq, name]))
  const isWhole = known.every(([seq, content]) => now.get(seq)?.[1] === content)
  if (!isWhole) return undefined
  return keys.filter(([seq, , name]) => names.get(seq) !== name)
}

type Adding = {
  readonly project: Project
  readonly index: SearchIndex
  readonly ino: number
  readonly callbacks: Callbacks
}

/** False if another process has removed the file, or it has become wrong. Releases the lock and the event loop now and then. */
async function addAll(context: ProjectContext, adding: Adding): Promise<boolean> {
  const { project, index, ino, callbacks } = adding
  const { ledger, home } = context
  let news: readonly SearchKey[] = []
  let mark: string | undefined
  for (;;) {
    callbacks.signal?.throwIfAborted()
    const lock = await takeLock(indexLockPath(home, project.id), {
      waitMs: LOCK_WAIT_MS,
      purpose: 'search',
      signal: callbacks.signal,
    })
    try {
      if (statSync(indexPath(home, project.id), { throwIfNoEntry: false })?.ino !== ino)
        return false
      // Comparing all checkpoints takes longer than a batch, and is needed only after a write to the ledger.
      const newMark = ledger.changeMark()
      if (newMark !== mark) {
        const found = compareKeys(index, ledger.search.keys(project.id))
        if (found === undefined) return false
        news = found
        mark = newMark
      }
      if (news.length === 0) return true
      news = news.slice(await addBatch(context, index, news))
      callbacks.onProgress?.({
        phase: 'index',
        files: index.countFrom(0),
        bytes: 0,
        of: index.countFrom(0) + news.length,
      })
    } finally {
      lock?.release()
    }
  }
}

/** Adds the first ones, and returns how many. */
async function addBatch(
  context: ProjectContext,
  index: SearchIndex,
  news: readonly SearchKey[],
): Promise<number> {
  const untilMs = performance.now() + BATCH_MS
  const batch: Added[] = []
  const damaged = context.ledger.marks.damaged()
  for (const key of news.slice(0, MAX_BATCH)) {
    const checkpoint = context.ledger.checkpoints.get(parseCheckpointId(key[3]))
    // Another process has removed it. The next comparison notices.
    if (checkpoint === undefined) continue
    batch.push({ key, checkpoint, changes: await changesOf(context, checkpoint, damaged) })
    if (performance.now() > untilMs) break
  }
  index.transaction(() => {
    for (const added of batch) addOne(context, index, added)
    failpoint('search:before-commit')
  })
  const last = batch.at(-1)
  return last === undefined ? Math.min(news.length, MAX_BATCH) : news.indexOf(last.key) + 1
}

type Added = {
  readonly key: SearchKey
  readonly checkpoint: Checkpoint
  readonly changes: IndexedCheckpoint['changes']
}

function addOne(
  context: ProjectContext,
  index: SearchIndex,
  { key: [seq, content, name, id], checkpoint, changes }: Added,
): void {
  const present = index.get(seq)
  // Another process was faster.
  if (present?.content === content && present.name === name) return
  const state = checkpoint.session?.state ?? null
  const isRead = state !== null && mayReadConversations(context)
  const elements = [
    ...(present?.elements ?? []),
    ...(isRead ? context.ledger.search.newElements(state, index) : []),
  ]
  const texts = textsOf(context, checkpoint, { elements, changes })
  const text = texts.map((one) => one.text.toLowerCase()).join('\n')
  index.put({ seq, id, content, name, elements, changes }, text)
}

/** Empty if one of the snapshots is damaged: it cannot be compared. */
async function changesOf(
  { ledger, snapshots }: ProjectContext,
  checkpoint: Checkpoint,
  damaged: ReadonlyMap<string, unknown>,
): Promise<IndexedCheckpoint['changes']> {
  if (!hasFiles(checkpoint) || damaged.has(checkpoint.id)) return []
  const before = ledger.checkpoints.filesBefore(checkpoint)
  if (before !== undefined && damaged.has(before.id)) return []
  const { tree } = checkpoint.snapshot
  if (before?.snapshot.tree === tree) return []
  const changes = await snapshots.compare(before?.snapshot.tree, tree, { countLines: false })
  return changes.map(({ path, after }) => [
    pathText(path),
    after?.type === 'file' ? after.blob : null,
  ])
}

/** Removes indexes that have something that was removed from the ledger. A prune calls it after its transaction. */
export async function removeStaleIndexes({ home, ledger }: StoreContext): Promise<void> {
  for (const id of indexedProjects(home)) {
    let isStale = true
    try {
      // With or without conversations: the other form has another version.
      const index =
        SearchIndex.open(indexPath(home, id), { hasConversations: true }) ??
        SearchIndex.open(indexPath(home, id), { hasConversations: false })
      if (index === undefined) continue
      try {
        isStale = compareKeys(index, ledger.search.keys(id)) === undefined
      } finally {
        index.close()
      }
    } catch (error) {
      if (!isDamage(error, indexPath(home, id))) throw error
    }
    if (isStale) await removeUnderLock(home, id)
  }
}

/** Removes the indexes of all projects. */
export async function removeIndexes(home: string): Promise<void> {
  for (const id of indexedProjects(home)) await removeUnderLock(home, id)
}

function indexedProjects(home: string): readonly ProjectId[] {
  return listIfExists(join(home, 'cache')).flatMap((name) => {
    const id = FILE.exec(name)?.[1]
    return id === undefined ? [] : [parseProjectId(id)]
  })
}

async function removeUnderLock(home: string, project: ProjectId): Promise<void> {
  const lock = await takeLock(indexLockPath(home, project), {
    waitMs: LOCK_WAIT_MS,
    purpose: 'remove the search index',
  })
  try {
    const path = indexPath(home, project)
    // First the journal, so that a new file never finds an old one.
    for (const file of [`${path}-journal`, path]) rmSync(file, { recursive: true, force: true })
  } finally {
    lock?.release()
  }
}

function ensureFolder(path: string): void {
  if (existsSync(path)) return
  try {
    // Not recursive: if another process removed the home, this must not create half a store.
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

function indexPath(home: string, project: ProjectId): string {
  return join(home, 'cache', `${project}${SUFFIX}`)
}

function indexLockPath(home: string, project: ProjectId): string {
  return lockPath(home, `${project}${SUFFIX}`)
}

/** The ledger's own damage is reported as STORE_DAMAGED too, so the message must name the index. */
function isDamage(error: unknown, path: string): boolean {
  if (isCorrupt(error) || isStatementFault(error) || error instanceof SyntaxError) return true
  return hasCode(error, 'STORE_DAMAGED') && error instanceof Error && error.message.includes(path)
}
