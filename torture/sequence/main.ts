// npm run torture:model -- [--seed S] [--operations N] [--minutes M]: random sequences against a model, until the time is up
// or a fault is found. Without --operations and --minutes it runs until Ctrl-C.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { Editor, isEditorProcess, runEditorProcess } from './editor.js'
import { Sequence } from './sequence.js'

/** Long enough for histories with prunes, short enough to repeat. */
const OPERATIONS_PER_RUN = 500

if (isEditorProcess()) runEditorProcess()
else process.exitCode = await main()

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      operations: { type: 'string' },
      minutes: { type: 'string' },
    },
  })
  const sdkUrl = new URL('../../dist/index.js', import.meta.url).href
  const sdk = (await import(sdkUrl)) as typeof import('../../src/index.js')
  const deadlineMs =
    values.minutes === undefined ? Infinity : Date.now() + Number(values.minutes) * 60_000
  let left = values.operations === undefined ? Infinity : Number(values.operations)
  const counts = new Map<string, number>()
  const editor = new Editor(new URL(import.meta.url))
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-model-')))
  let seed = Number(values.seed ?? Date.now() % 1_000_000)
  for (; left > 0 && Date.now() < deadlineMs; seed += 1) {
    const folder = mkdtempSync(join(root, 'run-'))
    const sequence = new Sequence({ sdk, folder, seed, editor })
    await sequence.start()
    for (let step = 0; step < Math.min(OPERATIONS_PER_RUN, left); step += 1) {
      if (sequence.faults.length > 0) break
      await sequence.step()
    }
    left -= OPERATIONS_PER_RUN
    await sequence.finish()
    for (const [what, count] of sequence.counts) counts.set(what, (counts.get(what) ?? 0) + count)
    if (sequence.faults.length > 0) {
      for (const fault of sequence.faults.slice(0, 20)) console.error(`FAULT: ${fault}`)
      console.error(`Seed ${seed}; the project and its store are in ${folder}`)
      await editor.close()
      return 1
    }
    rmSync(folder, { recursive: true })
  }
  await editor.close()
  rmSync(root, { recursive: true })
  console.log([...counts].map(([what, count]) => `${what} ${count}`).join(', '))
  console.log('The program and the model agree.')
  return 0
}
