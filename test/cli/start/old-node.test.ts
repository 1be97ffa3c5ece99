// A Node that is too old gets one clear message, even if it cannot parse the program.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Ended, type Scratch, scratch } from '../program.js'

/** Runs the program in a process that pretends to be another version of Node. */
function runWith(s: Scratch, version: string, args: readonly string[]): Ended {
  const preload = join(s.folder, 'version.cjs')
  const versions = `{ ...process.versions, node: ${JSON.stringify(version)} }`
  writeFileSync(preload, `Object.defineProperty(process, 'versions', { value: ${versions} })\n`)
  return s.run(args, { env: { NODE_OPTIONS: `--require ${preload}` } })
}

test('an old Node is refused with the version that is needed, without a stack', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  for (const version of ['12.22.12', '18.20.0', '20.18.3']) {
    expect(runWith(s, version, ['save'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        `Error: Savestate needs Node 20.19 or newer, and this is Node ${version}.\n` +
        `Install a newer Node, or put it first on the PATH. The Node in use: ${process.execPath}\n`,
    })
  }
  const { stderr } = runWith(s, '18.0.0', ['list', '--json'])
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'NODE_TOO_OLD' } })
  for (const version of ['20.19.0', '22.0.0', '100.1.0'])
    expect(runWith(s, version, ['list']).code).toBe(0)
})

test('a hook of an agent under an old Node stops nothing, unless it is strict', () => {
  using s = scratch()
  const hook = ['hook', 'claude', 'PreToolUse']
  const { code, stderr } = runWith(s, '18.0.0', hook)
  expect([code, stderr]).toEqual([0, expect.stringContaining('Savestate needs Node')])
  expect(runWith(s, '18.0.0', [...hook, '--strict']).code).toBe(2)
})

test('the first file has no syntax that an old Node cannot read, and the version of package.json', () => {
  const text = readFileSync('dist/cli/bin.js', 'utf8')
  const code = text.replace(/\/\/.*$/gm, '')
  expect(code).not.toMatch(/=>|\?\.|\?\?|`|\b(?:const|let|class|async|import|export)\b/)
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    engines: { node: string }
  }
  const [, oldest = ''] = /var OLDEST = \[(.*?)\]/.exec(code) ?? []
  expect(engines.node).toBe(`>=${oldest.replace(', ', '.')}.0`)
})
