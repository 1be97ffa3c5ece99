// An import that is killed leaves garbage, never damage (I2), and the next one completes it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FETCH_POINTS } from '../../support/failpoints/share.js'
import { fsck } from '../../support/scratch.js'
import { bytesOf, Host, LIMITS } from './bundle-helpers.js'

const CHILD = fileURLToPath(new URL('import-packs-child.mjs', import.meta.url))
const SOURCE = fileURLToPath(new URL('../../../src/snapshot/index.ts', import.meta.url))

let sender: Host
let code: string
beforeAll(async () => {
  sender = await Host.start()
  const dir = join(sender.folder, 'code')
  const build = await rolldown({ input: SOURCE, platform: 'node' })
  await build.write({ dir, format: 'esm' })
  await build.close()
  code = join(dir, 'index.js')
})
afterAll(() => sender[Symbol.asyncDispose]())

// Few objects become loose files, many become one pack. A large one is neither.
const WAYS = {
  few: { files: 3, points: { ...FETCH_POINTS, 'loose:written': 1, 'loose:named': 3 } },
  many: { files: 150, points: { ...FETCH_POINTS, 'pack:written': 1, 'pack:named': 1 } },
  large: { files: 1, points: { ...FETCH_POINTS, 'loose:named': 1 } },
}
const cases = Object.entries(WAYS).flatMap(([way, { files, points }]) =>
  Object.entries(points).flatMap(([point, visits]) =>
    Array.from({ length: visits }, (_, i) => ({ way, files, point: `${point}@${i + 1}` })),
  ),
)

test.each(cases)('$way objects, killed at $point', async ({ way, files, point }) => {
  await using receiver = await Host.start()
  const project = join(sender.folder, 'project')
  mkdirSync(project, { recursive: true })
  for (let i = 0; i < files; i += 1) writeFileSync(join(project, `${way}-${i}`), `${way} ${i}`)
  if (way === 'large') writeFileSync(join(project, 'large'), Buffer.alloc(17 << 20, 1))
  const tree = await sender.save()
  const bytes = await bytesOf(await sender.snapshots.exportPack({ tree, base: null }))
  const pack = join(receiver.folder, 'pack')
  writeFileSync(pack, bytes)
  const { home } = receiver
  const request = { code, home, project: receiver.project, limits: LIMITS, tree, pack }
  const killed = spawnSync(process.execPath, [CHILD, JSON.stringify(request)], {
    env: { ...process.env, SAVESTATE_FAILPOINT: point },
  })
  expect([killed.signal, killed.stderr.toString()]).toEqual(['SIGKILL', ''])
  expect(fsck(home)).toBe('')
  await receiver.receive(tree, [{ chunks: [bytes] }])
  expect(receiver.reachable(tree)).toEqual(sender.reachable(tree))
  expect(receiver.stored().filter((name) => !/^[0-9a-f]{38}$|^pack-/.test(name))).toEqual([])
})
