// Below a process that Yarn's Plug'n'Play was loaded into, as an agent is that `yarn` has started.
import { readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROGRAM, scratch } from './program.js'

/** As far as it matters: it says that it is there, and forgets in which form a path is wanted. */
const PNP = `
const fs = require('node:fs')
Object.defineProperty(process.versions, 'pnp', { value: '3' })
const { readlinkSync } = fs
const { native } = fs.realpathSync
fs.readlinkSync = (path) => readlinkSync(path)
fs.realpathSync.native = (path) => native(path)
require('node:module').syncBuiltinESMExports()
`
const FILES = {
  '../with blank/.pnp.cjs': PNP,
  '../other.cjs': 'process.env.OTHER_WAS_HERE = "1"\n',
}
const TARGET = Buffer.from('a\xffb', 'latin1')

test('the program starts again without it, with all else that Node was told', () => {
  using s = scratch(FILES)
  const [pnp, other] = [join(s.folder, 'with blank/.pnp.cjs'), join(s.folder, 'other.cjs')]
  const link = join(s.project, 'link')
  symlinkSync(TARGET, link)
  const env = { NODE_OPTIONS: `-r "${pnp}" --require ${other}` }
  expect(s.run(['save'], { env })).toMatchObject({ code: 0, stderr: '' })
  rmSync(link)
  expect(s.run(['rewind', '1', '--yes'], { env })).toMatchObject({ code: 0, stderr: '' })
  expect(readlinkSync(link, 'buffer')).toEqual(TARGET)
  expect(s.run(['show', 'nothing'], { env })).toMatchObject({ code: 2 })
  const shown = s.run(['run', '--', 'sh', '-c', 'echo "$OTHER_WAS_HERE, $NODE_OPTIONS"'], { env })
  expect(shown.stdout).toContain(`1, --require ${other}\n`)
})

test('where it comes back in spite of that, the program does not start again and again', () => {
  using s = scratch(FILES)
  // A name that nothing is known by.
  s.write({ '../hidden.cjs': `require('./with blank/.pnp.cjs')\n` })
  const env = { NODE_OPTIONS: `--require ${join(s.folder, 'hidden.cjs')}` }
  const { code, stderr } = s.run(['save'], { env })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Plug’n’Play') })
})

test('a program that uses the SDK below it keeps states, and is told why it cannot keep files', () => {
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
