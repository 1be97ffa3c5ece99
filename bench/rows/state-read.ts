/**
 * Reading from a session of 3,000 steps, in a process that has just opened it: the list of its
 * checkpoints, and the latest state compared with `JSON.parse` of the same data. Files are in the page cache of the
 * system; the process has cached nothing.
 */
import { writeFileSync } from 'node:fs'
import { type Bench, OURS, shared } from '../bench.js'
import { inNewChild } from '../child-process.js'
import { conversationOf, digestOf } from '../states/conversation.js'
import { figureOf, median, runRounds } from '../measure.js'
import { atMost, MEGABYTE, type Row } from '../row.js'
import type { ListReport, LoadReport } from '../states/state-child.js'
import { LENGTH } from '../states/state-race.js'
import { appended } from './state-append.js'

const MAX_LIST_MS = 50
const MAX_LIST_MEGABYTES = 20
const MAX_OF_PARSE = 2
const PARSE = 'JSON.parse'

const listed = shared(async (bench): Promise<readonly ListReport[]> => {
  const { home } = await appended(bench)
  const reports: ListReport[] = []
  bench.log(`lists of ${LENGTH} checkpoints`)
  while (reports.length < repetitions(bench)) {
    const report = await inNewChild({ kind: 'list-states', home })
    if (report.checkpoints !== LENGTH) throw new Error(`${report.checkpoints} were listed`)
    reports.push(report)
  }
  return reports
})

export const listTime: Row = {
  name: `state-list-${LENGTH}`,
  async measure(bench) {
    const reports = await listed(bench)
    const ours = median(reports.map(({ ms }) => ms))
    return atMost(MAX_LIST_MS, { ours, unit: 'ms', detail: 'first call of a new process; median' })
  },
}

export const listMemory: Row = {
  name: `state-list-${LENGTH}-memory`,
  async measure(bench) {
    const reports = await listed(bench)
    const ours = Math.max(...reports.map(({ grownBytes }) => grownBytes)) / MEGABYTE
    return atMost(MAX_LIST_MEGABYTES, { ours, unit: 'MB', detail: 'resident memory more; largest' })
  },
}

export const loadTime: Row = {
  name: `state-load-${LENGTH}`,
  async measure(bench) {
    const { home } = await appended(bench)
    const state = conversationOf(LENGTH)
    const path = bench.scratch.path('state.json')
    writeFileSync(path, JSON.stringify(state))
    const digest = digestOf(state)
    const again = new Map<string, number[]>([
      [OURS, []],
      [PARSE, []],
    ])
    const contestant = (name: string, load: () => Promise<LoadReport>) => ({
      name,
      async time() {
        const report = await load()
        if (report.digest !== digest) throw new Error(`${name} gave another state back`)
        again.get(name)?.push(report.againMs)
        return report.ms
      },
    })
    bench.log(`loads of the state at step ${LENGTH}`)
    const medians = await runRounds({
      contestants: [
        contestant(OURS, () => inNewChild({ kind: 'load-state', home })),
        contestant(PARSE, () => inNewChild({ kind: 'parse-state', path })),
      ],
      count: repetitions(bench),
      warmUps: 1,
      before() {},
    })
    const later = [...again].map(([name, times]) => `${name} ${median(times).toFixed(1)}`)
    return {
      ours: figureOf(medians, OURS),
      peer: figureOf(medians, PARSE),
      limit: MAX_OF_PARSE,
      unit: 'ms',
      detail: `first call of a new process, against ${PARSE}; later calls ${later.join(', ')}`,
    }
  },
}

function repetitions({ quick }: Bench): number {
  return quick ? 5 : 11
}
