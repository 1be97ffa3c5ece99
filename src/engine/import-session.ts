// Makes the states of one history checkpoints of a session, one transaction each: what an import that was killed has
// not done, the next one does. A session that did not come from there is never added to.
import { StateMemory } from '../ledger/index.js'
import {
  type Checkpoint,
  type ImportProblem,
  makeId,
  parseCheckpointId,
  parseSessionId,
  type Session,
} from '../model/index.js'
import { failpoint } from '../system/index.js'
import type { StoreContext } from './context.js'
import {
  faultIn,
  type Report,
  type SessionSource,
  type StateItem,
  unreadable,
} from './import-source.js'
import { isHeld } from './open-session.js'

/** What becomes of a history: where it goes, what of it is still to do, and why not all of it. */
export type SessionOutlook = {
  readonly target: string
  readonly pending: readonly StateItem[]
  readonly known: number
  readonly problems: readonly ImportProblem[]
}

export function outlookOfSession(
  context: StoreContext,
  source: SessionSource,
  wished: string,
): SessionOutlook {
  const { ledger } = context
  const home = homeOf(context, source)
  // Noted is known, also where a policy has dropped the checkpoint since: its place in the session is taken.
  const isKnown = ({ origin }: StateItem) =>
    home !== undefined && ledger.imports.importedAs(origin) !== undefined
  const target = home ?? parseSessionId(wished)
  const lastKnown = source.items.findLastIndex(isKnown)
  const unknown = source.items.filter((item) => !isKnown(item))
  const pending = source.items.slice(lastKnown + 1)
  const known = source.items.length - unknown.length
  const late = unknown.slice(0, unknown.length - pending.length).map((item) => ({
    source: item.source,
    message:
      'it is older than what was imported earlier, and checkpoints can only be added at the end of a session',
  }))
  const fault = pending.length === 0 ? undefined : faultOf(context, source, { target, home })
  if (fault === undefined) return { target, pending, known, problems: late }
  const problem = { source: source.source, message: fault }
  return { target, pending: [], known, problems: [...late, problem] }
}

/** Adds what is pending; returns how many were added. */
export async function importSession(
  context: StoreContext,
  { source, outlook }: { readonly source: SessionSource; readonly outlook: SessionOutlook },
  { problems, onDone }: Report,
): Promise<number> {
  const memory = new StateMemory()
  let added = 0
  for (const item of outlook.pending) {
    try {
      const state = await item.readState()
      const isNew = context.ledger.transaction(() =>
        addItem(context, { source, item, state, memory, target: outlook.target }),
      )
      failpoint('import:after-row')
      if (isNew) added += 1
    } catch (error) {
      memory.forget()
      problems.push({ source: item.source, message: faultIn(error) })
    }
    onDone()
  }
  return added
}

type Addition = {
  readonly source: SessionSource
  readonly item: StateItem
  readonly state: unknown
  readonly memory: StateMemory
  readonly target: string
}

/** False if another process was quicker. */
function addItem(context: StoreContext, addition: Addition): boolean {
  const { ledger, clock } = context
  const { source, item, state, memory, target } = addition
  const home = homeOf(context, source)
  if (home !== undefined && ledger.imports.importedAs(item.origin) !== undefined) return false
  const fault = faultOf(context, source, { target, home })
  if (fault !== undefined) throw unreadable(fault)
  const session = ledger.sessions.byId(target) ?? createSession(context, addition)
  const { createdAtMs, name, reason, status, metadata, operationId } = item
  const id = parseCheckpointId(makeId(clock.random))
  const facts = {
    key: session.key,
    id: session.id,
    agent: session.agent,
    parent: session.head,
    step: session.nextStep,
    status,
    turn: session.turn,
    toolCall: null,
    state: ledger.states.write(state, memory),
    schemaVersion: null,
    metadata,
    operationId,
  }
  const kept = {
    id,
    kind: 'imported',
    name,
    reason,
    createdAtMs,
    pinned: false,
    authors: null,
  } as const
  const noFiles = { project: session.project, commit: null, snapshot: null, changes: null }
  ledger.checkpoints.insert({ ...kept, ...noFiles, session: facts }, undefined)
  ledger.imports.place(id, { atMs: createdAtMs, after: session.head })
  const nowMs = clock.nowMs()
  ledger.sessions.advance(session, { head: id, status, atMs: nowMs, leaseUntilMs: null })
  ledger.imports.record(item.origin, id, nowMs)
  return true
}

function createSession({ ledger }: StoreContext, { source, item, target }: Addition): Session {
  const { agent, kind } = source
  const metadata = { importedFrom: kind }
  return ledger.sessions.create({
    id: target,
    agent,
    project: null,
    metadata,
    atMs: item.createdAtMs,
  })
}

/** The session that an earlier import has made of this, if there is one and it is still there. */
function homeOf({ ledger }: StoreContext, { items }: SessionSource): string | undefined {
  for (const { origin } of items) {
    const id = ledger.imports.importedAs(origin)
    const checkpoint = id === undefined ? undefined : ledger.checkpoints.get(parseCheckpointId(id))
    if (checkpoint?.session !== null && checkpoint !== undefined) return checkpoint.session.id
  }
  return undefined
}

/** Why the session cannot be added to. */
function faultOf(
  { ledger, clock }: StoreContext,
  { kind, originPrefix }: SessionSource,
  { target, home }: { readonly target: string; readonly home: string | undefined },
): string | undefined {
  const session = ledger.sessions.byId(target)
  if (session === undefined) return undefined
  const name = JSON.stringify(target)
  if (isHeld(session.lease, clock.nowMs())) return `the session ${name} is in use`
  const head = session.head === null ? undefined : ledger.checkpoints.get(session.head)
  const isSame = home !== undefined || isFrom(head, originPrefix)
  if (isSame && head?.kind === 'imported') return undefined
  const option = kind === 'breakpilot' ? '--session ID' : '--prefix TEXT'
  const what = isSame
    ? `the session ${name} has continued here since it was imported`
    : `a session ${name} already exists and was not imported from here`
  return `${what}; import it under another name with ${option}`

  function isFrom(checkpoint: Checkpoint | undefined, prefix: string | null): boolean {
    if (checkpoint === undefined || prefix === null) return false
    return ledger.imports.originOf(checkpoint.id)?.startsWith(prefix) === true
  }
}
