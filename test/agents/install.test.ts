// Install and uninstall with the real program, in separate homes.
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { AGENT_NAMES } from '../../src/base/index.js'
import { hookEntry, EVENTS, type Recipe, listTargets } from '../../src/agents/install/recipes.js'
import { type Scratch, scratch } from '../cli/program.js'

const SETTINGS = `{
    // mine
    "model": "x", // note
    "permissions": { "allow": ["Bash(ls)"] },
    "hooks": {
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
    }
}
`
const userFile = (s: Scratch, path: string) => join(s.folder, 'user', path)
const read = (path: string) => readFileSync(path, 'utf8')

function put(path: string, content: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content, { mode })
}

/** All files and folders of a home, except the store. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

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

test('the plugin for opencode saves, waits for pending work, and throws only to stop a tool', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['install', 'opencode', '-y', '--strict'])
  const path = userFile(s, '.config/opencode/plugins/savestate.mjs')
  writeFileSync(path, read(path.replace('.mjs', '.js')))
  const known = { ...process.env }
  Object.assign(process.env, s.environment)
  try {
    const { Savestate } = (await import(pathToFileURL(path).href)) as { Savestate: PluginMaker }
    const toasts: unknown[] = []
    const client = { tui: { showToast: async (toast: unknown) => void toasts.push(toast) } }
    const plugin = await Savestate({ client, directory: s.project })
    const message = { message: { id: 'm' }, parts: [{ type: 'text', text: 'Do it' }] }
    await plugin['chat.message']({ sessionID: 'ses' }, message)
    const created = {
      type: 'session.created',
      properties: { info: { id: 'sub', parentID: 'ses' } },
    }
    await plugin.event({ event: created })
    const call = { tool: 'bash', sessionID: 'sub', callID: 'c' }
    const args = { command: 'echo two' }
    await plugin['tool.execute.before'](call, { args })
    s.write({ 'a.txt': 'two\n' })
    await plugin['tool.execute.after']({ ...call, args }, { title: 't', output: 'two' })
    s.write({ 'a.txt': 'three\n' })
    void plugin.event({ event: { type: 'session.idle', properties: { sessionID: 'ses' } } })
    await plugin.dispose()
    const list = s.json(['list']) as { checkpoints: readonly { reason: string; session: string }[] }
    expect(list.checkpoints.map(({ reason, session }) => [session, reason]).reverse()).toEqual([
      ['ses', 'You: Do it'],
      ['ses', 'bash: echo two'],
      ['ses', 'End of the turn'],
    ])
    expect(toasts).toEqual([])
    // The model is notified about restored files for one turn.
    s.run(['rewind', '3', '-y'])
    const system = async () => {
      const output = { system: ['You are opencode.'] }
      await plugin['chat.message']({ sessionID: 'ses' }, message)
      await plugin['experimental.chat.system.transform']({ sessionID: 'ses' }, output)
      return output.system.slice(1)
    }
    expect(await system()).toEqual([expect.stringMatching(/Savestate.*: a\.txt\.$/)])
    expect(await system()).toEqual([])
    const config: Record<string, unknown> = {
      permission: { edit: 'ask', external_directory: 'allow' },
    }
    await plugin.config(config)
    const outside = { '*': 'allow', [s.home]: 'deny', [join(s.home, '*')]: 'deny' }
    expect(config).toEqual({ permission: { edit: 'ask', external_directory: outside } })
    const refused = await Savestate({ client, directory: join(s.folder, 'user') })
    await refused['chat.message']({ sessionID: 'no' }, message)
    expect(toasts).toHaveLength(1)
    await expect(
      refused['tool.execute.before']({ ...call, sessionID: 'no' }, { args }),
    ).rejects.toThrow('PROJECT_REFUSED')
  } finally {
    for (const key of Object.keys(s.environment)) delete process.env[key]
    Object.assign(process.env, known)
  }
})

test.each([
  ['is strict', 'exits with 2', 'echo It was not readable. >&2; exit 2', 'It was not readable.'],
  ['is strict', 'is not there', 'exit 127', 'exited with 127'],
  ['is strict', 'is killed', 'kill -9 $$', 'exited with'],
  ['is strict', 'says what cannot be read', 'echo nonsense', 'cannot be read'],
  ['is strict', 'has nothing to say', 'exit 0', 'it runs'],
  ['is not strict', 'exits with 2', 'exit 2', 'it runs'],
])(
  'the plugin for opencode decides whether to stop a tool if it %s and its hook %s',
  async (how, _, hook, stopped) => {
    using s = scratch()
    const options = how === 'is strict' ? ['--strict'] : []
    s.run(['install', 'opencode', '-y', ...options])
    const path = userFile(s, '.config/opencode/plugins/savestate.mjs')
    const program = join(s.folder, 'hook')
    writeFileSync(program, `cat > ${s.folder}/payload\n${hook}\n`)
    const code = read(path.replace('.mjs', '.js'))
    put(path, code.replace(/LINE = .*/, `LINE = ${JSON.stringify(`sh '${program}'`)}`))
    const { Savestate } = (await import(pathToFileURL(path).href)) as { Savestate: PluginMaker }
    const client = { tui: { showToast: async () => undefined } }
    const plugin = await Savestate({ client, directory: s.project })
    const call = { tool: 'bash', sessionID: 'ses', callID: 'c' }
    const args = { command: 'ls' }
    const fault = await plugin['tool.execute.before'](call, { args }).catch(String)
    expect(fault ?? 'it runs').toContain(stopped)
    // It stops nothing else.
    await plugin['chat.message']({ sessionID: 'ses' }, { message: {}, parts: [] })
    await plugin['tool.execute.after'](call, { title: 't' })
    await plugin.dispose()
  },
)

type Handler = (input: unknown, output: unknown) => Promise<void>
type Plugin = Record<
  | 'chat.message'
  | 'experimental.chat.system.transform'
  | 'tool.execute.before'
  | 'tool.execute.after',
  Handler
> & {
  event(input: unknown): Promise<void>
  dispose(): Promise<void>
  config(config: unknown): Promise<void>
}
type PluginMaker = (context: unknown) => Promise<Plugin>

test('the published plugin folders have the hooks of an install and the version of the package', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
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
