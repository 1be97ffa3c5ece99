/**
 * `append` to a list that grows by a pair of messages in each step: what a step costs after 3,000, and
 * whether it costs more than after 100. No peer can append, so the other figure is a limit, or
 * ours for the short list. The rows of state-read.ts use the resulting store.
 */
import { OURS, shared } from '../bench.js'
import { figureOf } from '../measure.js'
import { atMost, type Row } from '../row.js'
import { LENGTH, race, type Steps } from '../states/state-race.js'

const MAX_MS = 1
const MAX_GROWTH = 1.3
const SHORT_LENGTH = 100
const SHORT = `step ${SHORT_LENGTH}`

/** A store with a session of 3,000 steps, and the medians of its last steps and of a short one's. */
export const appended = shared(
  async (bench): Promise<{ readonly home: string; readonly steps: Steps }> => {
    const { scratch } = bench
    const home = scratch.folder('appended')
    const steps = await race(bench, [
      { name: OURS, writer: 'append', folder: home, length: LENGTH, before: { how: 'each' } },
      {
        name: SHORT,
        writer: 'append',
        folder: scratch.folder('appended-short'),
        length: SHORT_LENGTH,
        // So that only the length of the list differs.
        before: { how: 'aged', steps: LENGTH - SHORT_LENGTH },
      },
    ])
    return { home, steps }
  },
)

export const appendTime: Row = {
  name: `state-append-${LENGTH}`,
  async measure(bench) {
    const { inARow, afterPause } = (await appended(bench)).steps
    const rested = figureOf(afterPause, OURS).toFixed(2)
    return atMost(MAX_MS, {
      ours: figureOf(inARow, OURS),
      unit: 'ms',
      detail: `with fsync; p50; after a pause ${rested}`,
    })
  },
}

export const appendGrowth: Row = {
  name: `state-append-${LENGTH}-of-${SHORT_LENGTH}`,
  async measure(bench) {
    const { inARow } = (await appended(bench)).steps
    return {
      ours: figureOf(inARow, OURS),
      peer: figureOf(inARow, SHORT),
      limit: MAX_GROWTH,
      unit: 'ms',
      detail: `with fsync; p50, against our own at ${SHORT}`,
    }
  },
}
