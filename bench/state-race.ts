/**
 * Writers beside each other, each in a child process of its own that holds nothing else. All are brought
 * to the step that is asked about; then they take turns, some steps each, so that noise on the machine
 * hits all alike.
 */
import type { Bench } from './bench.js'
import { type Child, startChild } from './child-process.js'
import { type Medians, median, rotated, settleDisk } from './measure.js'
import { SESSION } from './state-child.js'
import type { WriterName, WriterPlace } from './state-writers.js'

export const LENGTH = 3_000

const TURNS = 5
const STEPS_PER_TURN = 10
const MEASURED = TURNS * STEPS_PER_TURN

export interface Runner {
  readonly name: string
  readonly writer: WriterName
  readonly folder: string
  readonly packages?: string
  /** The median is of the last steps up to this one. */
  readonly length: number
  /**
   * `each`: all steps from the first. `leap`: one write of most of them, for those whose steps cost the
   * same whatever was written before. `aged`: each, after so many steps of another session in the same
   * store, so that a short list is not measured in a young process with small files.
   */
  readonly before:
    | { readonly how: 'each' | 'leap' }
    | { readonly how: 'aged'; readonly steps: number }
}

/** The median milliseconds of a step, by name. Everything is closed when it returns. */
export async function race({ log }: Bench, runners: readonly Runner[]): Promise<Medians> {
  const lanes: { readonly name: string; readonly child: Child; readonly times: number[] }[] = []
  try {
    for (const runner of runners) {
      const child = startChild()
      lanes.push({ name: runner.name, child, times: [] })
      log(`${runner.name}: up to step ${runner.length}`)
      await bringToStart(child, runner)
    }
    log(`the last ${MEASURED} steps of ${runners.map(({ name }) => name).join(', ')}`)
    for (let turn = 0; turn < TURNS; turn += 1) {
      for (const { child, times } of rotated(lanes, turn)) {
        // What the one before left to be written must not fall into a flush of this one.
        await settleDisk()
        times.push(...(await child.ask({ kind: 'steps', steps: STEPS_PER_TURN })))
      }
    }
    for (const { child } of lanes) await child.ask({ kind: 'end-writing' })
    return new Map(lanes.map(({ name, times }) => [name, median(times)]))
  } finally {
    for (const { child } of lanes) await child.end()
  }
}

async function bringToStart(child: Child, runner: Runner): Promise<void> {
  const { writer, length, before } = runner
  let after = 0
  if (before.how === 'aged') {
    after = before.steps
    const place = { ...placeOf(runner), session: `${SESSION}-before` }
    await child.ask({ kind: 'begin-writing', writer, place, after: 0 })
    await child.ask({ kind: 'steps', steps: before.steps })
    await child.ask({ kind: 'end-writing' })
  }
  await child.ask({ kind: 'begin-writing', writer, place: placeOf(runner), after })
  if (before.how !== 'leap') {
    await child.ask({ kind: 'steps', steps: length - MEASURED })
    return
  }
  await child.ask({ kind: 'leap', steps: length - 2 * MEASURED })
  await child.ask({ kind: 'steps', steps: MEASURED })
}

function placeOf({ folder, packages }: Runner): WriterPlace {
  const place = { folder, session: SESSION }
  return packages === undefined ? place : { ...place, packages }
}
