/**
 * Runs writers, each in a separate child process that takes all its steps in a row. The time of a step
 * after a pause, in which others have used the processor caches, is measured as well.
 */
import type { Bench } from '../bench.js'
import { type Child, startChild } from '../child-process.js'
import { type Medians, median, flushDisk } from '../measure.js'
import { SESSION } from './state-child.js'
import type { WriterName, WriterPlace } from './state-writers.js'

export const LENGTH = 3_000

const MEASURED = 50
const AFTER_PAUSE = 10

export interface Runner {
  readonly name: string
  readonly writer: WriterName
  readonly folder: string
  readonly packages?: string
  /** The database of a writer that shares what it writes. */
  readonly remote?: string
  /** The medians are of the last steps up to this one. */
  readonly length: number
  /**
   * `each`: all steps from the first. `leap`: one write of most of them, for writers whose steps cost the
   * same regardless of earlier ones. `aged`: each, after this many steps of another session in the same
   * store, so that a short list is not measured in a young process with small files.
   */
  readonly before:
    | { readonly how: 'each' | 'leap' }
    | { readonly how: 'aged'; readonly steps: number }
}

/** The median milliseconds of a step, by name. */
export interface Steps {
  readonly inARow: Medians
  /** The median of the last steps, after all other writers had run. */
  readonly afterPause: Medians
}

/** Everything is closed when it returns. */
export async function race({ log }: Bench, runners: readonly Runner[]): Promise<Steps> {
  const children = new Map<string, Child>()
  try {
    const inARow = new Map<string, number>()
    for (const runner of runners) {
      const { name, length } = runner
      log(`${name}: up to step ${length}`)
      const child = startChild()
      children.set(name, child)
      // Dirty pages of the previous writer must not be part of a flush of this one.
      await flushDisk()
      await bringToStart(child, runner)
      inARow.set(name, median(await child.ask({ kind: 'steps', steps: MEASURED })))
    }
    const afterPause = new Map<string, number>()
    for (const [name, child] of children) {
      await flushDisk()
      afterPause.set(name, median(await child.ask({ kind: 'steps', steps: AFTER_PAUSE })))
      await child.ask({ kind: 'end-writing' })
    }
    return { inARow, afterPause }
  } finally {
    for (const child of children.values()) await child.end()
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
  const first = length - MEASURED - AFTER_PAUSE
  if (before.how !== 'leap') {
    await child.ask({ kind: 'steps', steps: first })
    return
  }
  await child.ask({ kind: 'leap', steps: first - MEASURED })
  await child.ask({ kind: 'steps', steps: MEASURED })
}

function placeOf({ folder, packages, remote }: Runner): WriterPlace {
  return {
    folder,
    session: SESSION,
    ...(packages === undefined ? {} : { packages }),
    ...(remote === undefined ? {} : { remote }),
  }
}
