// Install and uninstall with the real program, in separate homes.
import { lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { AGENT_NAMES } from '../../../src/base/index.js'
import { hookEntry, EVENTS, type Recipe, listTargets } from '../../../src/agents/install/recipes.js'
import { scratch } from '../../cli/program.js'
import { filesOf, put, read, userFile } from './install-helpers.js'

const SETTINGS = `{
    // mine
    "model": "x", // note
    "permissions": { "allow": ["Bash(ls)"] },
    "hooks": {
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
    }
}
`

test('an install into linked settings with comments and a special mode is undone to the byte', () => {
  using s = scratch()
  const [link, file] = [userFile(s, '.claude/settings.json'), userFile(s, 'dotfiles/claude.json')]
  put(file, SETTINGS, 0o640)
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync('../dotfiles/claude.json', link)
  const dry = s.run(['install', 'claude', '--dry-run'])
  expect(dry).toMatchObject({ code: 0, stderr: '' })
  expect(dry.stdout).toContain('/bin/savestate-hook')
  expect(s.run(['install', 'claude']).stderr).toContain('needs a yes')
  expect(read(file)).toBe(SETTINGS)

  expect(s.run(['install', 'claude', '-y']).code).toBe(0)
  const installed = read(file)
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(statSync(file).mode & 0o777).toBe(0o640)
  expect(readdirSync(dirname(file))).toEqual(['claude.json'])
  for (const line of SETTINGS.split('\n').slice(0, 3)) expect(installed).toContain(line)
  expect(installed).toContain('Read(/' + s.home + '/**)')

  expect(s.run(['install', 'claude', '-y']).stdout).toContain('nothing to do')
  expect(read(file)).toBe(installed)
  expect(s.run(['uninstall', 'claude', '-y']).code).toBe(0)
  expect(read(file)).toBe(SETTINGS)
  expect(s.run(['uninstall', 'claude', '-y']).stdout).toContain('nothing to do')
})

test('every agent is installed and uninstalled without a trace, for a user and for a project', () => {
  using s = scratch({ 'package.json': '{}' })
  for (const agent of AGENT_NAMES) put(join(s.folder, 'bin', agent), '', 0o755)
  const before = { user: filesOf(join(s.folder, 'user')), project: filesOf(s.project) }
  expect(s.run(['install', '--all', '-y']).code).toBe(0)
  expect(filesOf(join(s.folder, 'user'))).toEqual(expect.arrayContaining(USER_FILES))
  expect(s.run(['install', '--all', '--project', '-y']).code).toBe(0)
  expect(filesOf(s.project)).toEqual(expect.arrayContaining(PROJECT_FILES))
  expect(statSync(join(s.project, '.claude/settings.json')).mode & 0o777).toBe(0o644)
  expect(statSync(join(s.project, '.cline/hooks/PreToolUse')).mode & 0o777).toBe(0o755)
  expect(statSync(userFile(s, '.claude/settings.json')).mode & 0o777).toBe(0o600)
  expect(s.run(['uninstall', '--all', '--project', '-y']).code).toBe(0)
  expect(s.run(['uninstall', '--all', '-y']).code).toBe(0)
  expect({ user: filesOf(join(s.folder, 'user')), project: filesOf(s.project) }).toEqual(before)
})

const USER_FILES = [
  '.claude/settings.json',
  '.cline/hooks/PreToolUse',
  '.codex/hooks.json',
  '.config/opencode/plugins/savestate.js',
  '.copilot/hooks/savestate.json',
  '.cursor/hooks.json',
  '.gemini/policies/savestate.toml',
  '.gemini/settings.json',
  '.hermes/config.yaml',
]
const PROJECT_FILES = [
  '.claude/settings.json',
  '.github/hooks/savestate.json',
  '.opencode/plugins/savestate.js',
]

test('deny rules name the store by its real path and by the path through a home that is a link', () => {
  using s = scratch()
  const [real, home] = [join(s.folder, 'real'), join(s.folder, 'home')]
  mkdirSync(join(real, '.savestate'), { recursive: true, mode: 0o700 })
  symlinkSync(real, home)
  const environment = { HOME: home, SAVESTATE_HOME: undefined }
  const targets = (['claude', 'gemini'] as const).flatMap((agent) =>
    listTargets({
      agent,
      scope: { type: 'user' },
      environment,
      command: { launcher: undefined, strict: false },
      storeHome: join(real, '.savestate'),
    }),
  )
  const [claude] = targets
  const policy = targets.find(({ path }) => path.endsWith('policies/savestate.toml'))
  const rules = claude?.type === 'json' ? claude.add.map(({ value }) => value) : []
  expect(rules.filter((rule) => typeof rule === 'string')).toEqual([
    `Read(/${real}/.savestate/**)`,
    `Edit(/${real}/.savestate/**)`,
    'Read(~/.savestate/**)',
    'Edit(~/.savestate/**)',
  ])
  const pattern =
    policy?.type === 'file' ? /argsPattern = (.*)/.exec(policy.content)?.[1] : undefined
  const denied = new RegExp(String(JSON.parse(pattern ?? '""')))
  for (const folder of [real, home])
    expect(denied.test(`{"file_path":"${folder}/.savestate/ledger.db"}`)).toBe(true)
  expect(denied.test(`{"file_path":"${home}/.savestate-notes"}`)).toBe(false)
})

test('--mcp adds the server for each agent, keeps servers of the user, and uninstall removes ours', () => {
  using s = scratch({ 'package.json': '{}' })
  for (const agent of AGENT_NAMES) put(join(s.folder, 'bin', agent), '', 0o755)
  const claudeJson = '{"numStartups":3,"mcpServers":{"other":{"command":"x"}}}'
  put(userFile(s, '.claude.json'), claudeJson)
  put(userFile(s, '.codex/config.toml'), 'model = "m"\n')
  const mine = '{"mcpServers": {"savestate": {"command": "savestate", "args": ["mcp"]}}}\n'
  put(userFile(s, '.cursor/mcp.json'), mine)
  const before = filesOf(join(s.folder, 'user'))

  const done = s.run(['install', '--all', '--mcp', '--trust', '-y'])
  expect(done.code).toBe(0)
  expect(done.stdout).toMatch(/Cline: the MCP server was not added/)
  const launcher = join(s.home, 'bin/savestate-hook')
  const command = { command: launcher, args: ['mcp'], env: { SAVESTATE_HOME: s.home } }
  const servers = (path: string) =>
    (JSON.parse(read(userFile(s, path))) as { readonly mcpServers: unknown }).mcpServers
  expect(servers('.claude.json')).toEqual({
    other: { command: 'x' },
    savestate: { type: 'stdio', ...command },
  })
  expect(servers('.gemini/settings.json')).toEqual({ savestate: command })
  const local = { type: 'local', tools: ['*'], ...command }
  expect(servers('.copilot/mcp-config.json')).toEqual({ savestate: local })
  expect(read(userFile(s, '.cursor/mcp.json'))).toBe(mine)
  const codex = `\n[mcp_servers.savestate]\ncommand = "${launcher}"\nargs = ["mcp"]\nenv = {`
  expect(read(userFile(s, '.codex/config.toml'))).toContain(codex)
  const plugin = `"command":["${launcher}","mcp"],"environment":{"SAVESTATE_HOME":`
  expect(read(userFile(s, '.config/opencode/plugins/savestate.js'))).toContain(plugin)

  // Again it does nothing; with permission to rewind, the server gets the flag; without --mcp, it is removed.
  expect(s.run(['install', 'claude', '--mcp', '-y']).stdout).toMatch(/nothing to do/)
  s.run(['install', 'claude', '--mcp', '--allow-agent-rewind', '-y'])
  expect(read(userFile(s, '.claude.json'))).toContain('"mcp","--allow-agent-rewind"')
  for (const agent of ['claude', 'cursor', 'codex'])
    expect(s.run(['install', agent, '-y']).code).toBe(0)
  expect(read(userFile(s, '.claude.json'))).toBe(claudeJson)
  expect(read(userFile(s, '.codex/config.toml'))).not.toContain('mcp_servers')
  s.run(['install', 'codex', '--mcp', '-y'])

  expect(s.run(['uninstall', '--all', '-y']).code).toBe(0)
  expect(filesOf(join(s.folder, 'user'))).toEqual(before)
  expect(read(userFile(s, '.codex/config.toml'))).toBe('model = "m"\n')
  expect(read(userFile(s, '.cursor/mcp.json'))).toBe(mine)
})

test('the published plugin folders have the hooks of an install and the version of the package', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const json = (path: string) => JSON.parse(read(join(root, path))) as Record<string, unknown>
  const { version, files } = json('package.json')
  expect(files).toContain('plugins')
  expect(json('plugins/claude/.claude-plugin/plugin.json')).toMatchObject({
    name: 'savestate',
    version,
  })
  expect(json('plugins/gemini/gemini-extension.json')).toMatchObject({ name: 'savestate', version })
  for (const agent of ['claude', 'gemini'] as const) {
    const recipe: Recipe = {
      agent,
      scope: { type: 'user' },
      environment: { HOME: '/home/user' },
      command: { launcher: undefined, strict: false },
      storeHome: '/home/user/.savestate',
    }
    const wanted = EVENTS[agent].map((event) => [event, [hookEntry(recipe, event)]])
    expect(json(`plugins/${agent}/hooks/hooks.json`)['hooks']).toEqual(Object.fromEntries(wanted))
  }
})
