// Installs and uninstalls of a configuration that the user has changed since.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EVENTS } from '../../../src/agents/install/recipes.js'
import { scratch } from '../../cli/program.js'
import { put, read, userFile } from './install-helpers.js'

test('entries added since the install stay, with and without the record', () => {
  for (const hasRecord of [true, false]) {
    using s = scratch()
    const file = userFile(s, '.claude/settings.json')
    s.run(['install', 'claude', '-y'])
    const mine = { hooks: [{ type: 'command', command: 'mine' }] }
    const config = JSON.parse(read(file)) as { hooks: Record<string, unknown[]> }
    config.hooks['Stop']?.push(mine)
    writeFileSync(file, JSON.stringify(config))
    if (!hasRecord) s.run(['clear', '--all', '-y'])
    expect(s.run(['uninstall', 'claude', '-y']).code).toBe(0)
    expect(JSON.parse(read(file))).toEqual({ hooks: { Stop: [mine] } })
  }
})

test('hooks that the user added to our group stay; a new install adds ours once', () => {
  using s = scratch()
  const file = userFile(s, '.claude/settings.json')
  s.run(['install', 'claude', '-y'])
  type Config = { hooks: Record<string, { hooks: unknown[] }[]> }
  const config = JSON.parse(read(file)) as Config
  const mine = { type: 'command', command: 'mine' }
  config.hooks['Stop']?.[0]?.hooks.push(mine)
  writeFileSync(file, JSON.stringify(config))
  expect(s.run(['install', 'claude', '--strict', '-y']).code).toBe(0)
  const { Stop = [] } = (JSON.parse(read(file)) as Config).hooks
  const command = expect.stringContaining('hook claude Stop --strict') as string
  const strict = { type: 'command', command, timeout: 30 }
  expect(Stop).toEqual([{ hooks: [mine] }, { hooks: [strict] }])
  writeFileSync(file, JSON.stringify(config))
  expect(s.run(['uninstall', 'claude', '-y']).code).toBe(0)
  expect(JSON.parse(read(file))).toMatchObject({ hooks: { Stop: [{ hooks: [mine] }] } })
})

test.each([
  ['with another option', ['--strict'], []],
  ['with more of it', ['--mcp'], []],
  ['twice, and not changed between', ['--mcp'], ['--mcp', '--strict']],
])('an install %s over a changed file is removed without a trace', (_, ...installs) => {
  using s = scratch()
  const file = userFile(s, '.claude/settings.json')
  s.run(['install', 'claude', '-y'])
  writeFileSync(file, read(file).replace('{', '{\n  "model": "x",'))
  for (const options of installs) s.run(['install', 'claude', '-y', ...options])
  const { hooks } = JSON.parse(read(file)) as { hooks: Record<string, unknown[]> }
  expect(Object.values(hooks).map((groups) => groups.length)).toEqual(EVENTS.claude.map(() => 1))
  expect(s.run(['uninstall', 'claude', '-y']).code).toBe(0)
  expect(JSON.parse(read(file))).toEqual({ model: 'x' })
})

test('hooks can be removed even if the store cannot be opened', () => {
  using s = scratch()
  const file = userFile(s, '.claude/settings.json')
  put(file, '{}\n')
  s.run(['install', 'claude', '-y'])
  writeFileSync(join(s.home, 'format'), 'savestate 99\n')
  expect(s.run(['install', 'claude', '-y']).code).toBe(2)
  expect(s.run(['uninstall', 'claude', '-y']).code).toBe(0)
  expect(JSON.parse(read(file))).toEqual({})
})
