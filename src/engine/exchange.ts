// Sessions in and out as data: a list of { id, name, timestamp, data, metadata }, as Breakpilot writes it. There everything
// has a name and nothing a reason, so what differs from that here stands in keys of our own.
import * as z from 'zod/mini'
import type { Ledger } from '../ledger/index.js'
import {
  type Checkpoint,
  makeId,
  parseCheckpointId,
  parseName,
  parseReason,
  parseSessionId,
  SavestateError,
  type SessionKey,
} from '../model/index.js'
import { sessionOperation, storeOperation } from './operation.js'
import { sessionNow } from './session-context.js'
import { readState } from './session-queries.js'
import { wholeText } from './text-schema.js'

export type ExchangedCheckpoint = {
  readonly id: string
  /** Where it has none the reason, or `checkpoint`. */
  readonly name: string
  /** Where it has one. */
  readonly reason?: string
  /** Where it has no name. */
  readonly isNamed?: false
  readonly timestamp: string
  readonly data: unknown
  readonly metadata: unknown
}

/** Oldest first. */
export const exportSession = sessionOperation({
  name: 'export',
  summary: 'Give all checkpoints of a session with their states',
  effect: 'reads',
  input: () => z.strictObject({}),
  async run(context): Promise<readonly ExchangedCheckpoint[]> {
    const { ledger, hold } = context
    const checkpoints = ledger.checkpoints.list({ session: hold.key }).reverse()
    return checkpoints.map((checkpoint) => {
      const { name, reason } = checkpoint
      ledger.expectOpen(checkpoint.session?.metadata)
      return {
        id: checkpoint.session?.operationId ?? checkpoint.id,
        name: name ?? reason ?? 'checkpoint',
        ...(reason === null ? {} : { reason }),
        ...(name === null ? { isNamed: false as const } : {}),
        timestamp: new Date(checkpoint.createdAtMs).toISOString(),
        data: readState(context, checkpoint) ?? null,
        metadata: checkpoint.session?.metadata ?? {},
      }
    })
  },
})

const givenCheckpoints = () =>
  z.array(
    z.object({
      id: wholeText(),
      name: z.nullish(z.string()),
      reason: z.optional(z.string()),
      isNamed: z.optional(z.boolean()),
      timestamp: z.string(),
      data: z.optional(z.unknown()),
      metadata: z.optional(z.unknown()),
    }),
  )

export type ImportOutlook = { readonly add: number; readonly known: number }

/** Refuses what the import would refuse. The session need not be there. */
export const planImport = storeOperation({
  name: 'import',
  summary: 'Count the exported checkpoints that a session does not have yet',
  effect: 'reads',
  input: () => z.strictObject({ session: z.string(), checkpoints: givenCheckpoints() }),
  async run({ ledger }, { session, checkpoints }): Promise<ImportOutlook> {
    const key = ledger.sessions.byId(parseSessionId(session))?.key
    const added = new Set<string>()
    for (const item of checkpoints) {
      const { id } = item
      if (added.has(id) || (key !== undefined && isKnown(ledger, { session: key, id }))) continue
      parseTime(item.timestamp)
      labelOf(item)
      added.add(id)
    }
    return { add: added.size, known: checkpoints.length - added.size }
  },
})

export type ImportResult = { readonly imported: number; readonly known: number }

/** Ids that are there already are not added again. */
export const importSession = sessionOperation({
  name: 'import',
  summary: 'Add exported checkpoints to a session',
  effect: 'adds',
  input: () => z.strictObject({ checkpoints: givenCheckpoints() }),
  async run(context, { checkpoints }): Promise<ImportResult> {
    const { ledger, hold, clock, memory, project } = context
    try {
      return ledger.transaction(() => {
        let imported = 0
        for (const item of checkpoints) {
          if (isKnown(ledger, { session: hold.key, id: item.id })) continue
          const session = sessionNow(context)
          const createdAtMs = parseTime(item.timestamp)
          const id = parseCheckpointId(makeId(clock.random))
          const state = ledger.states.write(item.data ?? null, memory)
          ledger.checkpoints.insert(
            {
              id,
              kind: 'imported',
              ...labelOf(item),
              createdAtMs,
              pinned: false,
              authors: null,
              project: project?.id ?? null,
              commit: null,
              snapshot: null,
              changes: null,
              session: {
                key: hold.key,
                id: hold.id,
                agent: session.agent,
                parent: session.head,
                step: session.nextStep,
                status: session.status,
                turn: session.turn,
                toolCall: null,
                state,
                schemaVersion: null,
                metadata: item.metadata,
                operationId: item.id,
              },
            },
            undefined,
          )
          const { status } = session
          const atMs = clock.nowMs()
          ledger.sessions.advance(hold, { head: id, status, atMs, leaseUntilMs: null })
          imported += 1
        }
        return { imported, known: checkpoints.length - imported }
      })
    } catch (error) {
      memory.forget()
      throw error
    }
  },
})

/** By the id it was imported under, or by our own if it was exported from here. */
function isKnown(
  ledger: Ledger,
  { session, id }: { readonly session: SessionKey; readonly id: string },
): boolean {
  if (ledger.checkpoints.byOperation(session, id) !== undefined) return true
  if (!/^[bcdfghjklmnpqrstvwxz]{18}$/.test(id)) return false
  return ledger.checkpoints.get(parseCheckpointId(id))?.session?.key === session
}

type Label = {
  readonly name?: string | null | undefined
  readonly reason?: string | undefined
  readonly isNamed?: boolean | undefined
}

/** What may not be a name, such as a text of many lines, is kept as the reason where none is given. */
export function labelOf(given: Label): Pick<Checkpoint, 'name' | 'reason'> {
  const { name, isNamed } = given
  const reason = given.reason === undefined ? null : parseReason(given.reason)
  if (name === null || name === undefined || isNamed === false) return { name: null, reason }
  try {
    return { name: parseName(name), reason }
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'BAD_INPUT') throw error
    return { name: null, reason: reason ?? parseReason(name) }
  }
}

export function parseTime(text: string): number {
  // Without a zone it is UTC: that is what Breakpilot means.
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
  const ms = Date.parse(hasZone ? text : `${text}Z`)
  if (!Number.isNaN(ms)) return ms
  throw new SavestateError('BAD_INPUT', `${JSON.stringify(text)} is not a time`, {
    hint: 'Write it as in 2026-11-15T12:00:00Z.',
  })
}
