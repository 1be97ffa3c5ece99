// Imports the states of one history as checkpoints of a session, one transaction each. It never adds to a session that
// was not imported from the same history.
import { StateMemory } from '../../ledger/index.js'
import {
  parseCheckpointId,
  parseSessionId,
  SavestateError,
  type StateId,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import type { StoreContext } from '../operation/context.js'
import {
  importFault,
  type ImportReport,
  type PlannedHistory,
  type StateHistory,
  type StateItem,
  timeRange,
} from './import-history.js'
import { isHeld } from '../sessions/open-session.js'
import { asNextStep, createDraft } from '../sessions/session-draft.js'

/** `wanted`: the id of the session if none was imported from this history before. */
export function planStates(
  context: StoreContext,
  history: StateHistory,
  wanted: string,
): PlannedHistory {
  const { ledger } = context
  const { kind, source, items } = history
  const earlier = importedSession(context, history)
  // A recorded origin counts even if a prune has removed the checkpoint: its step in the session is taken.
  const isKnown = ({ origin }: StateItem) =>
    earlier !== undefined && ledger.imports.importedAs(origin) !== undefined
  const session = earlier ?? parseSessionId(wanted)
  const pending = items.slice(items.findLastIndex(isKnown) + 1)
  const unknown = items.filter((item) => !isKnown(item))
  const problems = unknown.slice(0, unknown.length - pending.length).map((item) => ({
    source: item.source,
    message:
      'it is older than what was imported earlier, and checkpoints can only be added at the end of a session',
  }))
  const fault = pending.length === 0 ? undefined : sessionFault(context, history, session)
  if (fault !== undefined) problems.push({ source, message: fault })
  const added = fault === undefined ? pending : []
  return {
    view: {
      kind,
      source,
      project: null,
      session,
      add: added.length,
      known: items.length - unknown.length,
      ...timeRange(items),
    },
    problems,
    add: (report) => addStates(context, history, { target: session, items: added, ...report }),
  }
}

async function addStates(
  context: StoreContext,
  history: StateHistory,
  {
    target,
    items,
    problems,
    onDone,
  }: ImportReport & { readonly target: string; readonly items: readonly StateItem[] },
): Promise<number> {
  const memory = new StateMemory()
  let added = 0
  for (const item of items) {
    try {
      const state = await item.readState()
      const write = () => context.ledger.states.write(state, memory)
      const add = () => addState(context, history, { item, target, write })
      if (context.ledger.transaction(add)) added += 1
      failpoint('import:after-row')
    } catch (error) {
      memory.forget()
      problems.push({ source: item.source, message: importFault(error) })
    }
    onDone()
  }
  return added
}

/** Inside a transaction. False if another process added it first. */
function addState(
  context: StoreContext,
  history: StateHistory,
  {
    item,
    target,
    write,
  }: { readonly item: StateItem; readonly target: string; readonly write: () => StateId },
): boolean {
  const { ledger, clock } = context
  const isImported = importedSession(context, history) !== undefined
  if (isImported && ledger.imports.importedAs(item.origin) !== undefined) return false
  const fault = sessionFault(context, history, target)
  if (fault !== undefined) throw new SavestateError('BAD_INPUT', fault)
  const { createdAtMs, name = null, reason = null, status, metadata, operationId = null } = item
  const session =
    ledger.sessions.byId(target) ??
    ledger.sessions.create({
      id: target,
      agent: history.agent ?? null,
      project: null,
      metadata: { importedFrom: history.kind },
      atMs: createdAtMs,
    })
  const draft = createDraft({ clock, project: undefined }, { kind: 'imported', name, reason })
  const made = asNextStep({ ...draft, createdAtMs, project: session.project }, session, {
    parent: session.head,
    status,
    toolCall: null,
    state: write(),
    schemaVersion: null,
    metadata,
    operationId,
  })
  const { id } = made
  ledger.checkpoints.insert(made, undefined)
  ledger.imports.place(id, { atMs: createdAtMs, after: session.head })
  const nowMs = clock.nowMs()
  ledger.sessions.advance(session, { head: id, status, atMs: nowMs, leaseUntilMs: null })
  ledger.imports.record(item.origin, id, nowMs)
  return true
}

/** The session that an earlier import of this history made, if it still exists. */
function importedSession({ ledger }: StoreContext, { items }: StateHistory): string | undefined {
  for (const { origin } of items) {
    const id = ledger.imports.importedAs(origin)
    const checkpoint = id === undefined ? undefined : ledger.checkpoints.get(parseCheckpointId(id))
    if (checkpoint !== undefined && checkpoint.session !== null) return checkpoint.session.id
  }
  return undefined
}

/** Why nothing can be added to the session. */
function sessionFault(
  context: StoreContext,
  history: StateHistory,
  target: string,
): string | undefined {
  const { ledger, clock } = context
  const session = ledger.sessions.byId(target)
  if (session === undefined) return undefined
  const name = JSON.stringify(target)
  if (isHeld(session.lease, clock.nowMs())) return `the session ${name} is in use`
  const head = session.head === null ? undefined : ledger.checkpoints.get(session.head)
  const { originPrefix } = history
  const headOrigin = head === undefined ? undefined : ledger.imports.originOf(head.id)
  const isSame =
    importedSession(context, history) !== undefined ||
    (originPrefix !== undefined && headOrigin?.startsWith(originPrefix) === true)
  if (isSame && head?.kind === 'imported') return undefined
  const what = isSame
    ? `the session ${name} has continued here since it was imported`
    : `a session ${name} already exists and was not imported from here`
  return `${what}; import it under another name with --prefix TEXT`
}
