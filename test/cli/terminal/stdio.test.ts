// Where a command writes to: pipes and files directly, terminals by Node's streams (src/cli/terminal/stdio.ts).
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../program.js'

const LONG = 'x'.repeat(1_000_000)

function withLongState(): Scratch {
  const s = scratch({ 'state.json': JSON.stringify({ messages: [LONG] }) })
  s.run(['save', '--session', 'long', '--state', 'state.json'])
  return s
}

test('a slow reader gets everything, also through a non-blocking pipe', () => {
  using s = withLongState()
  const { stdout } = s.run(['export', '--session', 'long'])
  expect(stdout).toContain(LONG)
  // Node's stream makes the pipe non-blocking, as any process that shares it can.
  const preload = join(s.folder, 'no-waiting.cjs')
  writeFileSync(preload, 'void process.stdout\n')
  const slowly = '{ sleep 0.3; cat; } > ../read'
  for (const options of ['', `--require ${preload}`]) {
    s.shell(`NODE_OPTIONS='${options}' savestate export --session long | ${slowly}`)
    expect(readFileSync(join(s.folder, 'read'), 'utf8') === stdout).toBe(true)
  }
})

test('output to both streams keeps its order', () => {
  using s = scratch()
  const { stdout } = s.shell('{ savestate list; savestate lsit; savestate list; } 2>&1')
  expect(stdout).toMatch(/^Nothing has been saved .*\nError: .*\n(?:.*\n)+Nothing has been saved /)
})

test.each([
  ['/dev/full', 'no space is left'],
  ['../small', 'EFBIG: file too large'],
])('an answer that cannot be written to %s is no bug', (place, why) => {
  using s = withLongState()
  // In blocks of 512 or 1024 bytes.
  const limited = "trap '' XFSZ; ulimit -f 100;"
  const { code, stderr } = s.shell(`${limited} savestate export --session long > ${place}`)
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`Error: The output could not be written: ${why}`),
  })
  expect(stderr).not.toContain('bug')
})

test('a failure to write the version is reported like any other', () => {
  using s = scratch()
  const [plain, json] = ['', '--json'].map((option) =>
    s.shell(`savestate --version ${option} > /dev/full`),
  )
  expect(plain).toMatchObject({
    code: 2,
    stderr: 'Error: The output could not be written: no space is left.\n',
  })
  expect(json?.code).toBe(2)
  expect(JSON.parse(json?.stderr ?? '')).toMatchObject({ error: { code: 'DISK_FULL' } })
})
