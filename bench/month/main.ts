/**
 * `npm run simulate:month`: the size of a store after a simulated month of work (200 prompts, 4,000 tool calls, 5,000
 * files), with every checkpoint kept and with the default policy. The figures are in docs/guide/store.md.
 */
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { diskUsage } from '../../src/system/index.js'
import { timed } from '../measure.js'
import { openStore } from '../sdk.js'
import { SimulatedClock, simulateMonth } from './simulate-month.js'
import { growTree, SHAPES } from '../trees/tree.js'

const MONTH = { days: 30, prompts: 200, calls: 4000 }

const root = mkdtempSync(join(process.env['SAVESTATE_WORK'] ?? tmpdir(), 'savestate-month-'))
try {
  const folder = join(root, 'project')
  const { changeable } = growTree(folder, SHAPES['5k'])
  for (const policy of ['everything', 'tiers']) await run(policy, { folder, changeable })
} finally {
  if (process.env['SAVESTATE_KEEP'] === undefined) rmSync(root, { recursive: true, force: true })
  else console.error(`Kept: ${root}`)
}

async function run(
  policy: string,
  { folder, changeable }: { readonly folder: string; readonly changeable: readonly string[] },
): Promise<void> {
  const home = join(root, policy)
  const clock = new SimulatedClock(Date.UTC(2026, 0, 1, 9))
  const store = await openStore(home, { durability: 'process', clock })
  const project = await store.project(folder)
  const first = await project.save()
  const firstBytes = await diskUsage(home)
  let pruneMs = 0
  const prune = async () => {
    pruneMs = await timed(() => store.prune({ unattended: true }))
  }
  const ms = await timed(() =>
    simulateMonth(store, clock, {
      folder,
      ...MONTH,
      edit: (random) => appendFileSync(random.pick(changeable), `// ${random.below(1e9)}\n`),
      ...(policy === 'tiers' ? { onDay: prune } : {}),
    }),
  )
  const rows = (await project.list()).length
  const bytes = await diskUsage(home)
  console.log(
    JSON.stringify({
      policy,
      checkpoints: rows,
      firstBytes,
      storeBytes: bytes,
      bytesPerCheckpoint: Math.round((bytes - firstBytes) / (rows - 1)),
      seconds: Math.round(ms / 1000),
      lastPruneMs: Math.round(pruneMs),
      first: first.id,
    }),
  )
  await store.close()
}
