// The status of a session, in progress or ended and why, and its turn.
import * as z from 'zod/mini'
import { parseStatus, type Status, STATUS_WORDS } from '../../model/index.js'
import { sessionOperation } from '../operation/operation.js'
import { readSession } from './session-context.js'
import { type SessionView, viewSession } from './session-view.js'
import { statusInput } from '../operation/input-schemas.js'

export type StatusInput =
  | (typeof STATUS_WORDS)[number]
  | { readonly state: string; readonly reason?: string | undefined }

export function parseStatusInput(input: StatusInput): Status {
  return typeof input === 'string'
    ? parseStatus(input, null)
    : parseStatus(input.state, input.reason ?? null)
}

export const setStatus = sessionOperation({
  name: 'status',
  summary: 'Record how a session ended, or that it continues',
  effect: 'adds',
  input: () => z.strictObject({ status: statusInput() }),
  async run(context, input): Promise<SessionView> {
    const { ledger, lease, clock } = context
    const status = parseStatusInput(input.status)
    ledger.transaction(() => ledger.sessions.setStatus(lease, { status, atMs: clock.nowMs() }))
    return viewSession(context, readSession(context))
  },
})

export const newTurn = sessionOperation({
  name: 'newTurn',
  summary: 'Start the next turn',
  effect: 'adds',
  input: () => z.strictObject({}),
  async run(context): Promise<number> {
    const { ledger, lease } = context
    return ledger.transaction(() => {
      const turn = readSession(context).turn + 1
      ledger.sessions.setTurn(lease, turn)
      return turn
    })
  },
})
