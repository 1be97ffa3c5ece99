// The final check, on a host that has never seen the sessions: everything that was acknowledged comes back from the remote.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Session, Store } from '../../src/index.js'
import { differenceOf, linesOf } from '../folder.js'
import type { Acknowledged, Message, State } from './messages.js'
import type { SharedModel } from './model.js'

export type Found = { sessions: number; checkpoints: number; restored: number; forks: number }

export async function checkSessions(
  store: Store,
  model: SharedModel,
  { sessions, folder }: { readonly sessions: readonly string[]; readonly folder: string },
): Promise<Found> {
  const found: Found = { sessions: 0, checkpoints: 0, restored: 0, forks: 0 }
  /** The tokens of the newest state of each session. */
  const newest = new Map<string, readonly string[]>()
  const bySession = new Map<string, Acknowledged[]>()
  for (const saved of model.acknowledged)
    bySession.set(saved.session, [...(bySession.get(saved.session) ?? []), saved])
  for (const id of bySession.keys())
    if (!sessions.includes(id)) model.fault(`the session ${id} is missing`)
  for (const id of sessions) {
    const into = join(folder, id)
    mkdirSync(into, { recursive: true })
    const { session } = await store.resume<State>(id, { into })
    found.sessions += 1
    if (id.includes('~')) found.forks += 1
    const tokens = await checkStates(model, { id, session, known: bySession.get(id) ?? [], found })
    newest.set(id, tokens)
    for (const saved of bySession.get(id) ?? [])
      if (saved.lines !== null && !model.pruned.has(saved.id)) {
        const fault = await restore(session, { saved, lines: saved.lines, into })
        if (fault !== undefined) model.fault(`${saved.id} of ${id} ${fault}`)
        found.restored += 1
      }
    await session.close()
  }
  checkSteady(model, newest)
  return found
}

/** Returns what is wrong. */
async function restore(
  session: Session<State>,
  {
    saved,
    lines,
    into,
  }: {
    readonly saved: Acknowledged
    readonly lines: readonly string[]
    readonly into: string
  },
): Promise<string | undefined> {
  try {
    await session.rewind(saved.id, { restore: 'files' })
  } catch (error) {
    return `could not be restored: ${String(error)}`
  }
  const difference = differenceOf(linesOf(into), lines)
  return difference === undefined ? undefined : `did not bring back the folder: ${difference}`
}

type Checked = {
  readonly id: string
  readonly session: Session<State>
  readonly known: readonly Acknowledged[]
  readonly found: Found
}

/** Every state of the session, and what was acknowledged of it. Returns the tokens of the newest state. */
async function checkStates(
  model: SharedModel,
  { id, session, known, found }: Checked,
): Promise<readonly string[]> {
  const checkpoints = await session.list({ limit: 1_000_000 })
  const states = new Map<
    string,
    { readonly step: number | null; readonly last: Message | undefined }
  >()
  for (const { id: checkpoint, step } of checkpoints) {
    const messages = (await session.stateAt(checkpoint))?.messages ?? []
    const gap = messages.findIndex(
      ({ n, after }, i) => n !== i || after !== (messages[i - 1]?.token ?? null),
    )
    if (gap !== -1) model.fault(`${checkpoint} of ${id} has a gap at message ${gap}`)
    states.set(checkpoint, { step, last: messages.at(-1) })
    found.checkpoints += 1
  }
  for (const { id: checkpoint, step, last } of known) {
    const state = states.get(checkpoint)
    if (state === undefined) {
      if (!model.pruned.has(checkpoint)) model.fault(`${checkpoint} of ${id} is missing`)
    } else if (state.step !== step)
      model.fault(`${checkpoint} was step ${step} of ${id}, and is ${state.step}`)
    else if (state.last?.token !== last?.token || state.last?.after !== last?.after)
      model.fault(`${checkpoint} of ${id} ends with ${state.last?.token}, not with ${last?.token}`)
  }
  return ((await session.stateAt())?.messages ?? []).map(({ token }) => token)
}

/**
 * The newest state of a session that only grows has every message that was acknowledged, at its place. A message that a host could not
 * share is there too, or in a session that became a fork of this one.
 */
function checkSteady(model: SharedModel, newest: ReadonlyMap<string, readonly string[]>): void {
  for (const { session, id, last } of model.acknowledged) {
    if (!session.startsWith('steady-') || last === null) continue
    const found = newest.get(session)?.[last.n]
    if (found !== last.token)
      model.fault(
        `${session} has lost message ${last.n} of ${id}: ${found} instead of ${last.token}`,
      )
  }
  for (const { session, token } of model.kept) {
    if (!session.startsWith('steady-')) continue
    const family = [...newest].filter(([id]) => id === session || id.startsWith(`${session}~`))
    if (!family.some(([, tokens]) => tokens.includes(token)))
      model.fault(`${token} was saved on a host, and is neither in ${session} nor in its forks`)
  }
}
