// Node's own SQLite is used if it can do everything; otherwise the addon in our package (docs/decisions/0002).
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { builtInDriver } from '../../../src/system/sqlite/sqlite-driver.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** A process that saves a state with the SDK at `root`, and warns afterwards. */
function saveWith({ home }: Scratch, root: string) {
  const script = `
    const { openStore } = await import(${JSON.stringify(pathToFileURL(join(root, 'dist/index.js')).href)})
    try {
      const store = await openStore({ home: ${JSON.stringify(home)} })
      await (await store.session('task')).save({ state: { n: 1 } })
      await store.close()
      const isLoaded = process.report.getReport().sharedObjects.some((path) => path.includes('photostructure'))
      process.stdout.write(isLoaded ? 'addon' : 'built in')
    } catch (error) {
      process.stdout.write(JSON.stringify([error.code, error.hint]))
    }
    process.emitWarning('mine', 'ExperimentalWarning')`
  return spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
}

test('if Node has SQLite, the addon is not loaded, and only other warnings are printed', async () => {
  await using s = await scratch()
  const { stdout, stderr } = saveWith(s, ROOT)
  expect(stdout).toBe(builtInDriver() === undefined ? 'addon' : 'built in')
  expect(stderr).toContain('ExperimentalWarning: mine')
  expect(stderr).not.toContain('SQLite')
})

test('without an addon for the system, an old Node says what to do, and a newer one works', async () => {
  await using s = await scratch()
  const root = join(s.folder, 'copy')
  for (const part of ['dist', 'package.json'])
    cpSync(join(ROOT, part), join(root, part), { recursive: true })
  rmSync(join(root, 'dist/prebuilds'), { recursive: true })
  const refused = JSON.stringify(['SQLITE_MISSING', 'Use Node 22.20, 24.7 or newer.'])
  expect(saveWith(s, root).stdout).toBe(builtInDriver() === undefined ? refused : 'built in')
})
