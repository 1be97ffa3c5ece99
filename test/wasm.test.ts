import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

test('the program for contents that is shipped is what its source gives', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/wasm.mjs', '--check'], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
