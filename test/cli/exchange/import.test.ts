// `savestate import` from other systems: plan, question, result.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addVersion2, hash16 } from '../../imports/hermes-folder.js'
import { PROGRAM, type Scratch, scratch } from '../program.js'

const T0 = 1_763_200_000

function hermesFolder(s: Scratch): string {
  const base = join(s.folder, 'her\nmes')
  mkdirSync(base)
  addVersion2(base, s.project, [
    { reason: 'one', at: T0, files: { 'a.txt': 'one\n' } },
    { reason: 'two', at: T0 + 60, files: { 'a.txt': 'two\n' } },
  ])
  writeFileSync(join(base, 'task.yaml'), "goal: x\nupdated: '2025-11-15T12:00:00'\n")
  writeFileSync(join(base, 'bad.yaml'), '- x\n')
  return base
}

test('hermes: without a path its own folder is read, and the answer says where that is', () => {
  using s = scratch({ 'a.txt': 'now\n' })
  const own = join(s.folder, 'user/.hermes/checkpoints')
  const none = s.run(['import', 'hermes', '--dry-run'])
  expect(none).toMatchObject({ code: 2, stdout: '' })
  expect(none.stderr).toBe(
    `Error: There is no folder ${own}.\n` +
      'Hermes keeps its checkpoints there, or where HERMES_HOME says. To read another folder: savestate import hermes PATH\n',
  )
  expect(s.run(['import', 'hermes', '/nonexistent']).stderr).toBe(
    'Error: There is no "/nonexistent".\n' +
      'Name the folder that contains store/, folders named by 16 hex digits, or .yaml files: ~/.hermes/checkpoints by default.\n',
  )
  const base = hermesFolder(s)
  const moved = s.run(['import', 'hermes', '--dry-run'], { env: { HERMES_HOME: s.folder } })
  expect(moved.stderr).toContain(`There is no folder ${s.folder}/checkpoints.`)
  mkdirSync(join(s.folder, 'user/.hermes'))
  renameSync(base, own)
  expect(s.run(['import', 'hermes', '--dry-run']).stdout).toContain('2 checkpoints to add')
  expect(s.run(['import', 'ares']).stderr).toContain(
    'Name what to read: savestate import ares PATH',
  )
  expect(s.run(['import', 'json', '--session', 'x']).stderr).toContain('PATH is missing')
})

test('hermes: shows the plan, asks, and reports the result', () => {
  using s = scratch({ 'a.txt': 'now\n' })
  const base = hermesFolder(s)
  const shown = base.replace('\n', ' ')
  const dry = s.run(['import', 'hermes', base, '--dry-run'])
  expect(dry).toEqual({
    code: 0,
    stdout: [
      `${s.project}: 2 checkpoints to add, 2025-11-15 09:46:40 to 2025-11-15 09:47:40`,
      `  Hermes shared store, ${shown}/store refs/hermes/${hash16(s.project)}`,
      'session task: 1 checkpoint to add, 2025-11-15 12:00:00',
      `  Hermes task file, ${shown}/task.yaml`,
      'A dry run: nothing has been imported.\n',
    ].join('\n'),
    stderr: `Not imported (1):\n  ${shown}/bad.yaml: it does not contain a mapping\n`,
  })
  const unasked = s.run(['import', 'hermes', base])
  expect([unasked.code, unasked.stdout]).toEqual([2, ''])
  expect(unasked.stderr).toContain('there is no terminal to ask on')
  expect(s.json(['list'])).toEqual({ checkpoints: [] })

  expect(s.run(['import', 'hermes', base, '-y'])).toMatchObject({
    code: 0,
    stdout: 'Imported 3 checkpoints.\n',
  })
  const problems = [{ source: `${base}/bad.yaml`, message: 'it does not contain a mapping' }]
  const again = s.json(['import', 'hermes', base, '--yes'])
  expect(again).toEqual({
    plan: { sources: expect.any(Array), add: 0, known: 3, problems },
    applied: false,
    declined: false,
    added: 0,
    known: 3,
    problems,
  })
  expect(s.run(['import', 'hermes', base]).stdout).toBe(
    'Nothing to import. 3 were already there.\n',
  )
  expect(s.run(['list']).stdout).toMatch(/two[^]*one/)
  expect(s.run(['rewind', '2', '-y'])).toMatchObject({ code: 0 })
  expect(s.json(['sessions'])).toMatchObject({ sessions: [{ id: 'task', status: 'in_progress' }] })
})

test('ares and breakpilot, with a prefix or another session id', () => {
  using s = scratch()
  const ares = join(s.folder, 'ares')
  mkdirSync(ares)
  const step = { session_id: 'run', step: 0, timestamp: T0, status: 'Completed', messages: [] }
  writeFileSync(join(ares, 'run_0.json'), JSON.stringify(step))
  expect(s.run(['import', 'ares', ares, '-y', '--prefix', 'ares-']).stdout).toBe(
    'Imported 1 checkpoint.\n',
  )
  const item = { id: 'b:1', name: 'n', timestamp: '2025-11-15T12:00:00', data: 1 }
  s.write({ 'b.json': JSON.stringify([item]) })
  expect(s.run(['import', 'breakpilot', 'b.json', '-y']).code).toBe(0)
  expect(s.run(['import', 'breakpilot', 'b.json', '-y', '--session', 'c']).code).toBe(0)
  const { sessions } = s.json(['sessions']) as { sessions: { id: string; status: string }[] }
  expect(sessions.map(({ id, status }) => `${id} ${status}`).sort()).toEqual([
    'ares-run completed',
    'b in_progress',
    'c in_progress',
  ])
})

test('an empty or unreadable source is a failure', () => {
  using s = scratch({ 'a.txt': 'x' })
  expect(s.run(['import', 'hermes', '.'])).toMatchObject({ code: 2, stdout: '' })
  expect(s.run(['import', 'ares', 'none']).stderr).toContain('There is no "none"')
  expect(s.run(['import', 'breakpilot', 'a.txt']).stderr).toContain(
    `Error: ${s.project}/a.txt cannot be read: it is not JSON`,
  )
  for (const [kind, path, message] of [
    [
      'hermes',
      'a.txt',
      `${s.project}/a.txt is not a folder.\nName the folder that contains store/`,
    ],
    ['ares', 'a.txt', `${s.project}/a.txt is not a folder.\nName the folder that contains files`],
    ['breakpilot', '.', `${s.project} is a folder.\nName a JSON file`],
  ] as const)
    expect(s.run(['import', kind, path])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`Error: ${message}`),
    })
  expect(s.run(['status']).stdout).not.toContain('failure')
  expect(s.run(['import', 'ares', '.', '--session', 'x']).stderr).toContain('--prefix')
  s.write({ 'x.yaml': '- list' })
  expect(s.run(['import', 'hermes', '.', '-y'])).toEqual({
    code: 2,
    stdout: 'Nothing to import.\n',
    stderr: `Not imported (1):\n  ${s.project}/x.yaml: it does not contain a mapping\n`,
  })
  const { stderr } = s.run(['import', 'json', 'a.txt'])
  expect(stderr).toContain('--session ID is missing')
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends an import at once, though parsing leaves no time for a handler',
  async (signal) => {
    using s = scratch()
    const args = [PROGRAM, 'import', 'yaml', '-', '--session', 'task']
    const child = spawn(process.execPath, args, { cwd: s.project, env: s.environment })
    const text = Array.from({ length: 100_000 }, (_, i) => `key${i}: value\n`).join('')
    // All but the last part of the text has been read, so the program reads or parses now.
    await new Promise((resolve) => child.stdin.end(text, () => resolve(undefined)))
    child.kill(signal)
    // Ended by the signal: a handler would exit with a code.
    expect(await once(child, 'close')).toEqual([null, signal])
    expect(s.json(['sessions'])).toEqual({ sessions: [] })
  },
)
