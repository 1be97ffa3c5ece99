/**
 * The cost of one step of a bisect without its command: a new copy of a checkpoint, and the removal of the one before. The other
 * figure is the limit: a tenth of a test run of ten seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../measure.js'
import { atMost, type Row } from '../row.js'
import { openStore } from '../sdk.js'
import { changeFile, growTree, SHAPES } from '../trees/tree.js'

const CHECKPOINTS = 33
const MAX_STEP_MS = 1000

export const bisectStep: Row = {
  name: 'bisect-step-2k',
  async measure(bench) {
    const shape = SHAPES['2k']
    const root = bench.scratch.path('bisect')
    const { changeable } = growTree(root, shape)
    const store = await openStore(bench.scratch.path('bisect-home'))
    const project = await store.project(root)
    const [first = ''] = changeable
    for (let number = 1; number <= CHECKPOINTS; number += 1) {
      changeFile(first, number)
      await project.save()
    }
    const steps: number[] = []
    let startedMs: number | undefined
    await project.bisect({
      retries: 0,
      async run() {
        if (startedMs !== undefined) steps.push(performance.now() - startedMs)
        // The first run is the bad end, and the second one the good end.
        const isBad = startedMs === undefined
        await sleep(1)
        startedMs = performance.now()
        return isBad ? 'bad' : 'good'
      },
    })
    await store.close()
    return atMost(MAX_STEP_MS, {
      ours: median(steps),
      unit: 'ms',
      detail: `${shape.files} files, ${steps.length} steps, without the command`,
    })
  },
}
