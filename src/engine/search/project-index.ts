// The index of a project's texts: opens it, brings it up to date, and removes it. Nothing has to keep it up to date: a search first adds
// the checkpoints that are new. If a checkpoint was removed, the whole file is removed and built again, so that no text stays in it.
//
// Every write is made under a lock, in a transaction, and reads the ledger only then. So the index never gets what a prune has removed
// from the ledger: the prune removes the file after its own transaction, under the same lock.
import { statSync } from 'node:fs'
import { type IndexedCheckpoint, SearchIndex, type SearchKey } from '../../ledger/index.js'
import { type Checkpoint, parseCheckpointId, type Project } from '../../model/index.js'
import { failpoint, takeLock } from '../../system/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { ProjectContext, StoreContext } from '../operation/context.js'
import { changesOf, mayReadConversations, textsOf } from './checkpoint-texts.js'
import {
  ensureCacheFolder,
  indexedProjects,
  indexLockPath,
  indexPath,
  isIndexDamage,
  LOCK_WAIT_MS,
  removeIndex,
} from './index-file.js'

/** Short enough for other work of the process, and for a prune that waits. */
const BATCH_MS = 100
const MAX_BATCH = 200

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
      if (attempt > 2 || !isIndexDamage(error, path)) throw error
      index?.close()
      index = undefined
      await removeIndex(context.home, project.id)
    } finally {
      index?.close()
    }
  }
}

async function updatedIndex(
  context: ProjectContext,
  project: Project,
  callbacks: Callbacks,
): Promise<SearchIndex> {
  const path = indexPath(context.home, project.id)
  ensureCacheFolder(context.home)
  const hasConversations = mayReadConversations(context)
  for (;;) {
    const index = SearchIndex.open(path, { hasConversations })
    if (index !== undefined) {
      const { ino } = statSync(path)
      let isDone = false
      try {
        // Without the lock: usually there is nothing to add.
        const mark = context.ledger.changeMark()
        const news = compareKeys(index, context.ledger.search.keys(project.id))
        isDone =
          news !== undefined &&
          (await addAll(context, { project, index, ino, callbacks, found: { mark, news } }))
        if (isDone) return index
      } finally {
        if (!isDone) index.close()
      }
    }
    await removeIndex(context.home, project.id)
  }
}

/** Returns what to add or to replace, oldest first. Undefined if something that the index has was removed. */
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
  /** The checkpoints to add, and the state of the ledger at that comparison. */
  readonly found: { readonly mark: string; readonly news: readonly SearchKey[] }
}

/** False if another process has removed the file, or it has become wrong. Releases the lock and the event loop now and then. */
async function addAll(context: ProjectContext, adding: Adding): Promise<boolean> {
  const { project, index, ino, callbacks, found } = adding
  const { ledger, home } = context
  let { news, mark } = found
  if (news.length === 0) return true
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
        const changed = compareKeys(index, ledger.search.keys(project.id))
        if (changed === undefined) return false
        news = changed
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
      if (!isIndexDamage(error, indexPath(home, id))) throw error
    }
    if (isStale) await removeIndex(home, id)
  }
}
