// In a process that has loaded Yarn's Plug'n'Play, such as an agent that `yarn` has started.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROGRAM, scratch } from '../program.js'

/** Imitates it: it announces itself, and ignores the encoding option of path functions. */
const PNP = `
const fs = require('node:fs')
Object.defineProperty(process.versions, 'pnp', { value: '3' })
const { readlinkSync } = fs
const { native } = fs.realpathSync
fs.readlinkSync = (path) => readlinkSync(path)
fs.realpathSync.native = (path) => native(path)
require('node:module').syncBuiltinESMExports()
`
const FILES = { '../with blank/.pnp.cjs': PNP }

test('the program refuses a folder, with a hint that says what to change', () => {
  using s = scratch(FILES)
  const env = { NODE_OPTIONS: `--require "${join(s.folder, 'with blank/.pnp.cjs')}"` }
  const { code, stderr } = s.run(['save'], { env })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Plug’n’Play') })
})

test('a program that uses the SDK there can save states, and gets an error that explains why it cannot save files', () => {
  using s = scratch(FILES)
  s.write({
    '../agent.cjs': `
      require('./with blank/.pnp.cjs')
      const { openStore } = require(${JSON.stringify(join(PROGRAM, '../../index.js'))})
      openStore().then(async (store) => {
        const session = await store.session('agent')
        await session.save({ state: { kept: true } })
        const refused = await store.project('.').catch((error) => error)
        console.log(JSON.stringify([await session.stateAt(), refused.code, refused.hint]))
        await store.close()
      })`,
  })
  const { stdout } = s.shell('"$NODE" ../agent.cjs', { env: { NODE: process.execPath } })
  expect(JSON.parse(stdout)).toEqual([
    { kept: true },
    'FILE_FAILED',
    expect.stringContaining('nodeLinker: node-modules'),
  ])
})
