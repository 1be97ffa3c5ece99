// Trusted hooks and the MCP server in the configuration of Codex.
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../cli/program.js'
import { put, read, userFile } from './install-helpers.js'

test('trust is recorded for Codex only after consent, with the hash that Codex computes', () => {
  using s = scratch()
  const config = userFile(s, '.codex/config.toml')
  const before = 'model = "x"\n'
  put(config, before)
  const plain = s.run(['install', 'codex', '-y', '--json'])
  expect(JSON.parse(plain.stdout)).toMatchObject({ agents: [{ agent: 'codex', trusted: false }] })
  expect(read(config)).toBe(before)
  expect(s.run(['install', 'codex', '-y']).stdout).toContain('--trust')
  const trusted = s.run(['install', 'codex', '-y', '--trust', '--json'])
  expect(JSON.parse(trusted.stdout)).toMatchObject({ agents: [{ applied: true, trusted: true }] })
  const launcher = `'${join(s.home, 'bin/savestate-hook')}'`
  const call = 'hook codex PreToolUse'
  const command = `test -x ${launcher} && exec ${launcher} ${call}; command -v savestate >/dev/null && exec savestate ${call}; exit 0`
  const canonical = `{"event_name":"pre_tool_use","hooks":[{"async":false,"command":${JSON.stringify(command)},"timeout":30,"type":"command"}]}`
  const hash = createHash('sha256').update(canonical).digest('hex')
  expect(read(config)).toContain(
    `[hooks.state."${userFile(s, '.codex/hooks.json')}:pre_tool_use:0:0"]\ntrusted_hash = "sha256:${hash}"\n`,
  )
  const once = read(config)
  s.run(['install', 'codex', '-y', '--trust'])
  expect(read(config)).toBe(once)
  // Codex writes to it as well.
  writeFileSync(config, `${once}\n[projects."/w"]\ntrust_level = "trusted"\n`)
  expect(s.run(['uninstall', 'codex', '-y']).code).toBe(0)
  expect(read(config)).toBe(`${before}\n[projects."/w"]\ntrust_level = "trusted"\n`)
})

const BOTH = ['--trust', '--mcp']
/** Each runs twice before the next; without --mcp the server is removed, and trust stays. */
const ORDERS = [
  [BOTH],
  [['--trust'], BOTH],
  [['--mcp'], BOTH],
  [BOTH, []],
  [['--mcp'], ['--trust']],
]

test.each([
  ['no file', undefined],
  ['an empty file', ''],
  ['a file without an end of its last line', 'model = "x"'],
  ['a file', 'model = "x"\n'],
  ['a file with other line ends', 'model = "x"\r\n'],
])('Codex: %s is restored to the byte, whatever was installed in which order', (_, before) => {
  using s = scratch()
  const config = userFile(s, '.codex/config.toml')
  const now = () => (existsSync(config) ? read(config) : undefined)
  const install = (options: readonly string[]) =>
    expect(s.run(['install', 'codex', '-y', ...options]).code).toBe(0)
  if (before !== undefined) put(config, before)
  for (const order of ORDERS) {
    for (const options of order) {
      install(options)
      const once = now()
      install(options)
      expect({ order, text: now() }).toEqual({ order, text: once })
    }
    expect(s.run(['uninstall', 'codex', '-y']).code).toBe(0)
    expect({ order, text: now() }).toEqual({ order, text: before })
  }
})

test('Codex: the installs for a project and for a user are independent', () => {
  using s = scratch({ 'package.json': '{}' })
  const config = userFile(s, '.codex/config.toml')
  put(config, 'model = "x"')
  s.run(['install', 'codex', '-y', '--mcp', '--trust'])
  const user = read(config)
  s.run(['install', 'codex', '-y', '--mcp', '--trust', '--project'])
  expect(read(config)).not.toBe(user)
  expect(s.run(['uninstall', 'codex', '-y', '--project']).code).toBe(0)
  expect(read(config)).toBe(user)
  s.run(['install', 'codex', '-y', '--trust', '--project'])
  expect(s.run(['uninstall', 'codex', '-y']).code).toBe(0)
  expect(read(config)).not.toContain('mcp_servers')
  expect(read(config)).toContain('[hooks.state.')
  expect(s.run(['uninstall', 'codex', '-y', '--project']).code).toBe(0)
  expect(read(config)).toBe('model = "x"')
})

test('Codex: text after our server stays on its own line', () => {
  using s = scratch()
  const config = userFile(s, '.codex/config.toml')
  put(config, 'model = "x"')
  s.run(['install', 'codex', '-y', '--mcp'])
  writeFileSync(config, `${read(config)}[mine]\n`)
  expect(s.run(['uninstall', 'codex', '-y']).code).toBe(0)
  expect(read(config)).toBe('model = "x"\n[mine]\n')
})

test('Codex: a trust that the user revoked comes back only with consent', () => {
  using s = scratch({ 'package.json': '{}' })
  const config = userFile(s, '.codex/config.toml')
  put(config, 'model = "x"\n')
  s.run(['install', 'codex', '-y', '--trust', '--project'])
  expect(read(config)).toContain('[hooks.state.')
  writeFileSync(config, 'model = "x"\n')
  expect(s.run(['install', 'codex', '-y', '--mcp']).code).toBe(0)
  expect(read(config)).not.toContain('[hooks.state.')
  expect(s.run(['uninstall', 'codex', '-y']).code).toBe(0)
  expect(read(config)).toBe('model = "x"\n')
})

test('Codex: keys that the user added to our server stay in its table', () => {
  using s = scratch()
  const config = userFile(s, '.codex/config.toml')
  put(config, 'model = "x"\n\n[tui]\nnotifications = true\n')
  s.run(['install', 'codex', '-y', '--mcp'])
  const edited = `${read(config)}enabled = false\n\n[mine]\nkey = 1\n`
  writeFileSync(config, edited)
  expect(s.run(['install', 'codex', '-y', '--mcp', '--trust']).code).toBe(0)
  expect(read(config)).toMatch(/^\[hooks\.state\./m)
  expect(read(config).startsWith(edited)).toBe(true)
})
