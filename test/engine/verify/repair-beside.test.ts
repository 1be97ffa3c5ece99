// A repair while an agent saves. It reads rows, refs and objects one after the other, so a save in between makes them disagree once
// without any damage.
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { scratch, sdk } from '../../support/scratch.js'

const SAVE = `
  const { openStore } = await import(process.argv[1])
  const store = await openStore({ home: process.argv[2], durability: 'process', inProcess: true })
  await (await store.project(process.argv[3])).save({ reason: 'meanwhile' })
  await store.close()`

test.each(['dry run', 'repair'])(
  'a save during the examination of a %s is not taken for damage',
  async (call) => {
    await using s = await scratch()
    const store = await s.open()
    s.write({ 'a.txt': 'one' })
    await (await store.project(s.project)).save()
    await store.close()
    let saves = 0
    const saveOnce = () => {
      if (saves > 0) return
      saves += 1
      s.write({ 'a.txt': 'two' })
      const dist = new URL('../../../dist/index.js', import.meta.url).href
      const args = ['--input-type=module', '-e', SAVE, dist, s.home, s.project]
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    }
    const result = await sdk.repairStore({
      home: s.home,
      inProcess: true,
      dryRun: call === 'dry run',
      confirm: () => expect.fail(),
      onProgress: saveOnce,
    })
    expect(saves).toBe(1)
    expect(result).toEqual({
      steps: [],
      applied: false,
      declined: false,
      setAside: null,
      problems: [],
    })
  },
)
