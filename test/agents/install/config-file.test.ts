// Configurations that cannot be read, and links.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AGENT_NAMES } from '../../../src/base/index.js'
import { type Scratch, scratch } from '../../cli/program.js'
import { filesOf, put, read, userFile } from './install-helpers.js'

test('an install for a project writes nothing through links that lead out of it', () => {
  using s = scratch({ 'package.json': '{}' })
  for (const agent of AGENT_NAMES) put(join(s.folder, 'bin', agent), '', 0o755)
  const outside = join(s.folder, 'outside')
  put(join(outside, 'settings.json'), '{"of": "another program"}\n')
  // A whole folder, a file, and a file that does not exist yet.
  symlinkSync(outside, join(s.project, '.claude'))
  put(join(s.project, '.cursor/x'), '')
  symlinkSync('../../outside/settings.json', join(s.project, '.cursor/hooks.json'))
  put(join(s.project, '.github/x'), '')
  symlinkSync(join(outside, 'new'), join(s.project, '.github/hooks'))
  // A link within the project is followed.
  mkdirSync(join(s.project, 'agents'))
  symlinkSync('agents', join(s.project, '.gemini'))
  const before = filesOf(outside)

  const dry = s.run(['install', 'claude', '--project', '--dry-run'])
  expect([dry.code, dry.stderr]).toEqual([
    2,
    expect.stringMatching(/leads from it out of the project, to .*outside\/settings\.json/),
  ])
  const { agents } = JSON.parse(
    s.run(['install', '--all', '--project', '-y', '--json']).stdout,
  ) as {
    readonly agents: readonly {
      readonly agent: string
      readonly applied: boolean
      readonly error?: { readonly code: string }
    }[]
  }
  const refused = agents.filter(({ error }) => error !== undefined)
  expect(refused.map(({ agent, error, applied }) => [agent, error?.code, applied])).toEqual([
    ['claude', 'CONFIG_INVALID', false],
    ['cursor', 'CONFIG_INVALID', false],
    ['copilot', 'CONFIG_INVALID', false],
  ])
  expect(existsSync(join(s.project, 'agents/settings.json'))).toBe(true)
  expect(filesOf(outside)).toEqual(before)
  expect(read(join(outside, 'settings.json'))).toBe('{"of": "another program"}\n')

  // An uninstall does not write there either.
  const ours = `{"hooks": {"stop": [{"command": "savestate hook cursor stop"}]}}\n`
  put(join(outside, 'settings.json'), ours)
  const removed = s.run(['uninstall', 'cursor', '--project', '-y'])
  expect([removed.code, removed.stderr]).toEqual([2, expect.stringContaining('out of the project')])
  expect(read(join(outside, 'settings.json'))).toBe(ours)
})

test('an unreadable configuration is reported and not changed, and other agents are installed', () => {
  using s = scratch()
  const broken = userFile(s, '.claude/settings.json')
  put(broken, '{ "hooks": ')
  put(userFile(s, '.gemini/settings.json'), '{}')
  const one = s.run(['install', 'claude', '-y', '--json'])
  expect(one.code).toBe(2)
  expect(JSON.parse(one.stderr)).toMatchObject({
    error: { code: 'CONFIG_INVALID', message: expect.stringContaining(broken) },
  })
  const all = s.run(['install', '--all', '-y'], { env: { PATH: '/usr/bin:/bin' } })
  expect(all.code).toBe(2)
  expect(all.stdout).toContain('is left as it is')
  expect(all.stdout).toContain('Hooks for Gemini CLI added')
  expect(read(broken)).toBe('{ "hooks": ')
  mkdirSync(userFile(s, '.cursor/hooks.json'), { recursive: true })
  expect(s.run(['install', 'cursor', '-y', '--json']).stderr).toContain('FILE_FAILED')
  put(userFile(s, '.cline/hooks/PreToolUse'), '#!/bin/sh\n')
  expect(s.run(['install', 'cline', '-y']).stderr).toContain('that Savestate did not write')
  expect(existsSync(userFile(s, '.cline/hooks/TaskStart'))).toBe(false)
})

test('a dangling link is followed as the kernel follows it', () => {
  using s = scratch()
  for (const path of ['dot/claude', 'dot/shared', 'far/away'])
    mkdirSync(userFile(s, path), { recursive: true })
  const link = (target: string, path: string) => symlinkSync(target, userFile(s, path))
  // Through a linked folder, another link, and a linked folder with `..`, which leads elsewhere than its path suggests.
  link('dot/claude', '.claude')
  link('../shared/s.json', 'dot/claude/settings.json')
  link('over/../t.json', 'dot/shared/s.json')
  link('../../far/away', 'dot/shared/over')
  const before = filesOf(join(s.folder, 'user'))
  expect(s.run(['install', 'claude', '-y']).code).toBe(0)
  expect(filesOf(join(s.folder, 'user'))).toEqual([...before, 'far/t.json'].sort())
  expect(read(userFile(s, '.claude/settings.json'))).toContain('savestate hook claude')
  expect(s.run(['uninstall', 'claude', '-y']).code).toBe(0)
  expect(filesOf(join(s.folder, 'user'))).toEqual(before)
  // For a dangling link to a folder, the target is created.
  link('no/such', '.gemini')
  expect(s.run(['install', 'gemini', '-y']).code).toBe(0)
  expect(existsSync(userFile(s, 'no/such/settings.json'))).toBe(true)
})

test.each<[string, (s: Scratch) => void, RegExp]>([
  [
    'links in a circle',
    (s) => {
      mkdirSync(userFile(s, '.claude'))
      symlinkSync('b', userFile(s, '.claude/settings.json'))
      symlinkSync('settings.json', userFile(s, '.claude/b'))
    },
    /settings\.json is left as it is: it is a loop of symbolic links\.\nFix it/,
  ],
  [
    'a file in place of the folder',
    (s) => put(userFile(s, '.claude'), ''),
    /\.claude\/settings\.json is left as it is: .*\.claude is in the way: it is not a folder\.\nFix it/,
  ],
  [
    'a folder in place of the file',
    (s) => mkdirSync(userFile(s, '.claude/settings.json'), { recursive: true }),
    /\.claude\/settings\.json is a folder, but must be a file\.\nFix it/,
  ],
])('%s is reported in one sentence, and other agents are installed', (_, make, sentence) => {
  using s = scratch()
  make(s)
  const before = filesOf(join(s.folder, 'user'))
  const refused = s.run(['install', 'claude', '-y'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(sentence) })
  expect(filesOf(join(s.folder, 'user'))).toEqual(before)
  for (const agent of ['claude', 'cursor']) put(join(s.folder, 'bin', agent), '', 0o755)
  s.run(['install', '--all', '-y'])
  expect(read(userFile(s, '.cursor/hooks.json'))).toContain('savestate hook cursor')
  expect(s.run(['doctor']).code).not.toBe(70)
})
