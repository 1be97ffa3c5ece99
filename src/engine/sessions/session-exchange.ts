// Exports a session page by page, and adds exported checkpoints to a session in slices: the event loop and other writers
// run in between. If the process is killed, the session has the first items, and the same import adds the rest (I6).
import * as z from 'zod/mini'
import type { Ledger } from '../../ledger/index.js'
import {
  type Checkpoint,
  type CheckpointId,
  invariant,
  parseSessionId,
  type SessionKey,
  type StateId,
} from '../../model/index.js'
import { yieldToEventLoop, failpoint, pauseForWriters } from '../../system/index.js'
import {
  batchesOf,
  type ExchangedCheckpoint,
  type ExchangedItem,
  type ExchangedItems,
  isItems,
  ItemReader,
} from './session-json.js'
import { sessionOperation, storeOperation } from '../operation/operation.js'
import { type SessionContext, readSession } from './session-context.js'
import { createDraft, asNextStep } from './session-draft.js'
import { expectState, readState } from './session-queries.js'

/** The last checkpoint of a page. */
type ExportCursor = {
  readonly step: number
  readonly id: CheckpointId
  readonly state: StateId | null
}

export type ExportPage = {
  readonly items: readonly ExchangedCheckpoint[]
  /** For the next page; undefined after the last. */
  readonly cursor: ExportCursor | undefined
}

const PAGE = 100
/** A page ends early after this: states may be large, and reading them blocks the event loop (I12). */
const PAGE_MS = 20

/** A page of checkpoints, oldest first: only one page is in memory, however long the session is. */
export const exportSession = sessionOperation({
  name: 'export',
  summary: 'Give a page of the checkpoints of a session with their states',
  effect: 'reads',
  input: () => z.strictObject({ after: z.optional(z.custom<ExportCursor>()) }),
  async run(context, { after }): Promise<ExportPage> {
    // One view of the ledger: a concurrent collection could remove a state between two reads.
    const page = context.ledger.view(() => readPage(context, after))
    await yieldToEventLoop()
    return page
  },
})

function readPage(context: SessionContext, after: ExportCursor | undefined): ExportPage {
  const { ledger, lease } = context
  const startMs = performance.now()
  const items: ExchangedCheckpoint[] = []
  const isThere = after !== undefined && ledger.checkpoints.get(after.id) !== undefined
  let before = isThere ? after.state : null
  let cursor = after
  const rows = ledger.checkpoints.list({
    session: lease.key,
    afterStep: after?.step ?? -1,
    limit: PAGE,
  })
  for (const checkpoint of rows) {
    items.push(toExchanged(context, { checkpoint, before }))
    invariant(checkpoint.session !== null, 'a checkpoint with a step belongs to a session')
    const { step, state } = checkpoint.session
    cursor = { step, id: checkpoint.id, state }
    before = state
    if (performance.now() - startMs > PAGE_MS) return { items, cursor }
  }
  return { items, cursor: rows.length < PAGE ? undefined : cursor }
}

function toExchanged(
  context: SessionContext,
  { checkpoint, before }: { readonly checkpoint: Checkpoint; readonly before: StateId | null },
): ExchangedCheckpoint {
  const { ledger } = context
  const { name, reason, session } = checkpoint
  ledger.expectOpen(session?.metadata)
  const state = session?.state ?? null
  const changes =
    before === null || state === null
      ? undefined
      : expectState(context, checkpoint, () => ledger.states.changes(before, state))
  return {
    id: session?.operationId ?? checkpoint.id,
    name: name ?? reason ?? 'checkpoint',
    ...(reason === null ? {} : { reason }),
    ...(name === null ? { isNamed: false as const } : {}),
    timestamp: new Date(checkpoint.createdAtMs).toISOString(),
    ...(changes === undefined ? { data: readState(context, checkpoint) ?? null } : { changes }),
    metadata: session?.metadata ?? {},
  }
}

const items = () => z.custom<ExchangedItems>(isItems)

export type ImportOutlook = { readonly add: number; readonly known: number }

/** Refuses what the import would refuse. The session need not be there. */
export const planImport = storeOperation({
  name: 'import',
  summary: 'Count the exported checkpoints that a session does not have yet',
  effect: 'reads',
  input: () => z.strictObject({ session: z.string(), checkpoints: items() }),
  async run({ ledger }, { session, checkpoints }): Promise<ImportOutlook> {
    return countNew(ledger, ledger.sessions.byId(parseSessionId(session))?.key, checkpoints)
  },
})

/** Reads all items, and throws BAD_INPUT for the first that cannot be imported. */
async function countNew(
  ledger: Ledger,
  session: SessionKey | undefined,
  checkpoints: ExchangedItems,
): Promise<ImportOutlook> {
  const reader = new ItemReader()
  const added = new Set<string>()
  let count = 0
  for await (const batch of batchesOf(checkpoints)) {
    for (const item of batch) {
      const { id } = reader.read(item)
      count += 1
      if (session === undefined || !isKnown(ledger, { session, id })) added.add(id)
    }
    await yieldToEventLoop()
  }
  return { add: added.size, known: count - added.size }
}

export type ImportResult = { readonly imported: number; readonly known: number }

/** A transaction ends after this. */
const SLICE_MS = 20

/** Skips ids that the session has already. A list with an invalid item is refused before anything is added. */
export const importSession = sessionOperation({
  name: 'import',
  summary: 'Add exported checkpoints to a session',
  effect: 'adds',
  input: () => z.strictObject({ checkpoints: items() }),
  async run(context, { checkpoints }, callbacks): Promise<ImportResult> {
    if (Array.isArray(checkpoints)) await countNew(context.ledger, undefined, checkpoints)
    const result = { imported: 0, known: 0 }
    const adder = new Adder(context)
    for await (const batch of batchesOf(checkpoints)) {
      for (let done = 0; done < batch.length; ) {
        callbacks.signal?.throwIfAborted()
        const startMs = performance.now()
        const slice = addSlice(context, adder, batch.slice(done))
        failpoint('import:slice-added')
        done += slice.length
        for (const isAdded of slice) result[isAdded ? 'imported' : 'known'] += 1
        await pauseForWriters(startMs)
      }
    }
    return result
  },
})

/** Adds items until the slice is over; returns for each whether it was new. */
function addSlice(
  { ledger, memory }: SessionContext,
  adder: Adder,
  batch: readonly unknown[],
): boolean[] {
  const startMs = performance.now()
  try {
    return ledger.transaction(() => {
      const added: boolean[] = []
      for (const item of batch) {
        added.push(adder.add(item))
        if (performance.now() - startMs > SLICE_MS) break
      }
      return added
    })
  } catch (error) {
    memory.forget()
    throw error
  }
}

class Adder {
  readonly #context: SessionContext
  readonly #reader = new ItemReader()
  /** The stored state of the previous item; undefined if the session had that item already, perhaps with another state. */
  #last: StateId | undefined

  constructor(context: SessionContext) {
    this.#context = context
  }

  /** Inside a transaction. False if the session has it already. */
  add(value: unknown): boolean {
    const { ledger, lease, clock } = this.#context
    const item = this.#reader.read(value)
    if (isKnown(ledger, { session: lease.key, id: item.id })) {
      this.#last = undefined
      return false
    }
    const session = readSession(this.#context)
    const { name, reason, createdAtMs } = item
    const draft = { ...createDraft(this.#context, { kind: 'imported', name, reason }), createdAtMs }
    const state = this.#write(item)
    this.#last = state
    const { status } = session
    const made = asNextStep(draft, session, {
      status,
      parent: session.head,
      toolCall: null,
      state,
      schemaVersion: null,
      metadata: item.metadata,
      operationId: item.id,
    })
    ledger.checkpoints.insert(made, undefined)
    const atMs = clock.nowMs()
    ledger.sessions.advance(lease, { head: made.id, status, atMs, leaseUntilMs: null })
    return true
  }

  /** Appending writes only the new items; any other change compares the whole state. */
  #write({ additions }: ExchangedItem): StateId {
    const { ledger, memory } = this.#context
    if (additions === undefined || this.#last === undefined)
      return ledger.states.write(this.#reader.state, memory)
    return additions.reduce(
      (base, { path, append }) => ledger.states.append(base, { key: path, items: append }, memory),
      this.#last,
    )
  }
}

/** True if the id is that of an earlier import, or of a checkpoint that was exported from this session. */
function isKnown(
  ledger: Ledger,
  { session, id }: { readonly session: SessionKey; readonly id: string },
): boolean {
  if (ledger.checkpoints.byOperation(session, id) !== undefined) return true
  return ledger.checkpoints.get(id as CheckpointId)?.session?.key === session
}
