// A process with a low limit of open files. At whichever call the limit is hit, the error names the limit instead of an
// internal bug, and the next command finishes or undoes the operation.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../../support/scratch.js'

const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), '../../../dist/cli/bin.js')
const FILES = Array.from({ length: 30 }, (_, n) => `dir/f${n}`)
const both = (content: string) => Object.fromEntries(FILES.map((path) => [path, content]))
/** From the minimum for starting the process to the need of this rewind. */
const LIMITS = Array.from({ length: 8 }, (_, n) => 26 + 4 * n)

function runIn(s: Scratch) {
  return (limit: number, ...args: string[]) => {
    const command = `ulimit -n ${limit}; exec "$0" "$@"`
    const env = { ...process.env, SAVESTATE_HOME: s.home }
    const words = ['-c', command, process.execPath, PROGRAM, ...args]
    const { status, stderr } = spawnSync('sh', words, { cwd: s.project, env, encoding: 'utf8' })
    return { status, stderr }
  }
}

test('a rewind with few descriptors reports the limit, and the folder is in its old or new state', async () => {
  await using s = await scratch({ files: both('one') })
  const run = runIn(s)
  expect(run(1000, 'save', '--name', 'first')).toMatchObject({ status: 0 })
  const first = s.snapshotOf()
  s.write(both('two'))
  const second = s.snapshotOf()
  for (const limit of LIMITS) {
    const { status, stderr } = run(limit, 'rewind', 'first', '--yes')
    expect([limit, status, stderr]).toEqual([limit, expect.toBeOneOf([0, 2]), expect.anything()])
    expect(stderr).not.toContain('bug')
    expect(run(1000, 'list')).toMatchObject({ status: 0 })
    expect([first, second]).toContainEqual(s.snapshotOf())
    s.write(both('two'))
  }
})

test('a rewind of more folders than the limit of open files succeeds', async () => {
  const wide = Array.from({ length: 200 }, (_, n) => `folder${n}/file`)
  const deep = Array.from({ length: 60 }, (_, n) => `deep${'/d'.repeat(n)}/file`)
  const all = (content: string) =>
    Object.fromEntries([...wide, ...deep].map((path) => [path, content]))
  await using s = await scratch({ files: all('one') })
  const run = runIn(s)
  expect(run(1000, 'save', '--name', 'first')).toMatchObject({ status: 0 })
  const first = s.snapshotOf()
  s.write(all('two'))
  expect(run(100, 'rewind', 'first', '--yes')).toEqual({ status: 0, stderr: expect.anything() })
  expect(s.snapshotOf()).toEqual(first)
})
