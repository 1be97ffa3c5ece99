// Everything that a ledger knows of a session or a thread, without the numbers of rows, to compare two ledgers.
import type { Ledger } from '../../../src/ledger/index.js'
import { type Checkpoint, hasFiles } from '../../../src/model/index.js'

/** With the state and the known tool calls of each checkpoint. */
export function sessionPicture(ledger: Ledger, id: string) {
  const session = ledger.sessions.byId(id)
  if (session === undefined) return undefined
  const { key, project: _, fence: _fence, lease: _lease, ...facts } = session
  const checkpoints = ledger.checkpoints.list({ session: key })
  return {
    ...facts,
    checkpoints: checkpoints.map((checkpoint) => pictureOf(ledger, checkpoint)),
    bySeq: checkpoints.map(
      (_each, index) => ledger.checkpoints.byNumber({ session: key }, index + 1)?.id,
    ),
    calls: ledger.tools.list(key).map((call) => ({
      ...call,
      partials: ledger.tools.partials(key, call),
    })),
    outlines: checkpoints.map(({ session: at }) =>
      ledger.tools.outlines(key, { upToStep: at?.step ?? 0, limit: 1000 }),
    ),
    known: checkpoints.map(({ session: at }) => knownCalls(ledger, key, at?.step ?? 0)),
  }
}

function pictureOf(ledger: Ledger, checkpoint: Checkpoint) {
  const { id, project: _, session, ...facts } = checkpoint
  const { key: _key, id: _session, state = null, ...position } = session ?? {}
  return {
    id,
    ...facts,
    ...position,
    state: state === null ? null : ledger.states.read(state),
    hasUsersName: ledger.nameOwners.hasUsersName(id),
    details: hasFiles(checkpoint) ? ledger.checkpoints.details(id) : undefined,
  }
}

class Undo extends Error {}

/** The calls that a fork from this step would have. */
function knownCalls(ledger: Ledger, session: number, step: number): unknown {
  let known: unknown
  try {
    ledger.transaction(() => {
      const facts = { agent: null, project: null, metadata: undefined, atMs: 1 }
      const fork = ledger.sessions.create({ id: 'a fork for the test', ...facts })
      ledger.tools.copyTo(fork.key, { session, step })
      known = ledger.tools.list(fork.key)
      throw new Undo()
    })
  } catch (error) {
    if (!(error instanceof Undo)) throw error
  }
  return known
}

export function threadPicture(ledger: Ledger, thread: string) {
  return ledger.threads
    .all(thread)
    .map((row) => {
      const { key: _key, state, ...checkpoint } = row
      const writes = ledger.threads.writes(checkpoint)
      return { ...checkpoint, state: ledger.states.read(state), writes }
    })
    .sort((a, b) => (JSON.stringify([a.ns, a.id]) < JSON.stringify([b.ns, b.id]) ? -1 : 1))
}
