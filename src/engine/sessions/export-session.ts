// Exports a session page by page: only one page is in memory, however long the session is.
import * as z from 'zod/mini'
import { type Checkpoint, type CheckpointId, invariant, type StateId } from '../../model/index.js'
import { yieldToEventLoop } from '../../system/index.js'
import type { ExchangedCheckpoint } from './session-json.js'
import { sessionOperation } from '../operation/operation.js'
import type { SessionContext } from './session-context.js'
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

/** Oldest first. */
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
