// The final check, on a host that has never seen the sessions: everything that was acknowledged comes back from the remote.
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../src/index.js'
import type { Random } from '../../bench/trees/random.js'
import { differenceOf, linesOf } from '../folder.js'
import type { Acknowledged } from './messages.js'
import type { SharedModel } from './model.js'

/** Restoring every snapshot of a long run takes too long: the newest, and some others. */
const RESTORES_PER_SESSION = 10

export type Found = { checkpoints: number; restored: number }

export async function checkSessions(
  store: Store,
  model: SharedModel,
  {
    sessions,
    folder,
    random,
  }: {
    readonly sessions: readonly string[]
    readonly folder: string
    readonly random: Random
  },
): Promise<Found> {
  const found: Found = { checkpoints: 0, restored: 0 }
  for (const id of sessions) {
    const known = model.of(id)
    if (known.length === 0) continue
    const into = join(folder, id)
    mkdirSync(into, { recursive: true })
    const { session } = await store.resume(id, { into })
    const steps = new Map((await session.list({ limit: 100_000 })).map((it) => [it.id, it.step]))
    for (const each of known) {
      found.checkpoints += 1
      if (steps.get(each.id) !== each.step)
        model.fault(`${each.id} was step ${each.step} of ${id}, and is ${steps.get(each.id)}`)
      else if (digestOf(await session.stateAt(each.id)) !== each.digest)
        model.fault(`${each.id} of ${id} has another state`)
    }
    for (const { id: checkpoint, lines } of chooseSnapshots(known, random)) {
      await session.rewind(checkpoint, { restore: 'files' })
      const difference = differenceOf(linesOf(into), lines ?? [])
      if (difference !== undefined)
        model.fault(`${checkpoint} of ${id} did not bring back the folder: ${difference}`)
      found.restored += 1
    }
    await session.close()
  }
  return found
}

function chooseSnapshots(known: readonly Acknowledged[], random: Random): readonly Acknowledged[] {
  const left = known.filter(({ lines }) => lines !== undefined)
  const chosen = left.splice(-1)
  while (chosen.length < RESTORES_PER_SESSION && left.length > 0)
    chosen.push(...left.splice(random.below(left.length), 1))
  return chosen
}

function digestOf(state: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(state ?? null))
    .digest('hex')
    .slice(0, 24)
}
