/** The time of `blame` on a long history; the other figure is the limit. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Bench } from '../bench.js'
import { median, timed } from '../measure.js'
import { run } from '../programs.js'
import { atMost, type Row } from '../row.js'
import { cliPath, openStore } from '../sdk.js'

const CHECKPOINTS = 5000
const LINES = 10_000
/** Every tenth checkpoint changes three lines of the file, far apart. */
const EVERY = 10
const MAX_MS = 1000

export const blameTime: Row = {
  name: 'blame-5k',
  slow: true,
  async measure(bench) {
    const { home, path } = await fillStore(bench)
    const args = [cliPath, '-C', path, 'blame', 'file.ts']
    const environment = { SAVESTATE_HOME: home }
    const times: number[] = []
    for (let round = 0; round < 5; round += 1)
      times.push(await timed(() => run({ program: process.execPath, args, cwd: '/', environment })))
    return atMost(MAX_MS, {
      ours: median(times),
      unit: 'ms',
      detail: `${CHECKPOINTS} checkpoints, ${CHECKPOINTS / EVERY} versions of ${LINES} lines, start-up included`,
    })
  },
}

async function fillStore(bench: Bench): Promise<{ readonly home: string; readonly path: string }> {
  const dir = bench.scratch.folder('blame')
  const [home, path] = [join(dir, 'home'), join(dir, 'project')]
  mkdirSync(path)
  bench.log(`${CHECKPOINTS} checkpoints of a file of ${LINES} lines`)
  // Only the result counts, so skip fsync.
  const store = await openStore(home, { durability: 'process' })
  const project = await store.project(path)
  const lines = Array.from(
    { length: LINES },
    (_, n) => `const value${n} = compute(${n}, 'some text')`,
  )
  for (let n = 0; n < CHECKPOINTS; n += 1) {
    if (n % EVERY === 0) {
      for (const at of [n * 37, n * 37 + 3331, n * 37 + 6662]) lines[at % LINES] = `changed by ${n}`
      writeFileSync(join(path, 'file.ts'), `${lines.join('\n')}\n`)
    } else writeFileSync(join(path, `other-${n % 50}.ts`), String(n))
    await project.save({ reason: `step ${n}` })
  }
  await store.close()
  return { home, path }
}
