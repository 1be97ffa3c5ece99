// The cost of Savestate per tool call, and a check that a long series is saved completely.
import assert from 'node:assert/strict'
import { type Bed, type Case, type Scene, turn, withScene } from '../case.js'
import { scripted } from '../model-server/script.js'
import { filesOf } from '../install-folder.js'
import { checkpoints, connect } from '../savestate.js'

const CALLS = 100
/** Enough for a stable median. */
const FEW = 30

export const LATENCY_CASES: readonly Case[] = [
  {
    claim: `${CALLS} calls in a row: each has its checkpoint`,
    async prove(bed) {
      const bareMs = await measured(bed, { calls: FEW, prepare: () => undefined })
      const nodeMs = await measured(bed, {
        calls: FEW,
        prepare: ({ here }) => here.hook(() => 'node -e 0'),
      })
      let hookedMs = 0
      await withScene(bed, async (scene) => {
        await connect(scene)
        await turn(scene, row(CALLS))
        hookedMs = callMs(scene)
        const lines = filesOf(scene.sandbox)['row.txt']?.split('\n').length
        assert.equal(lines, CALLS + 1)
        assert.equal((await checkpoints(scene.sandbox)).length, CALLS + 1)
      })
      const [ours, least] = [hookedMs - bareMs, nodeMs - bareMs]
      return `a call takes ${bareMs} ms; hooks add ${ours} ms, the same hooks as node -e 0 ${least} ms`
    },
  },
]

interface Row {
  readonly calls: number
  readonly prepare: (scene: Scene) => void
}

async function measured(bed: Bed, { calls, prepare }: Row): Promise<number> {
  let result = 0
  await withScene(bed, async (scene) => {
    prepare(scene)
    await turn(scene, row(calls))
    result = callMs(scene)
  })
  return result
}

function row(calls: number): string {
  const steps = Array.from({ length: calls }, (_, n) => ({ shell: `echo ${n} >> row.txt` }))
  return scripted('a row', [...steps, { say: 'Done.' }])
}

/** The median time from an answer of the model to the next request. */
function callMs({ sandbox }: Scene): number {
  const asked = sandbox.server.received.filter(({ tools }) => tools.length > 0)
  const times = asked.slice(1).map(({ atMs }, n) => atMs - (asked[n]?.atMs ?? 0))
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length / 2)] ?? 0
}
