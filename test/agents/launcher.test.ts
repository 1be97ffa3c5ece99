// The launcher that hooks run, with a real shell: after the program has moved, and after it was removed.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { AGENT_NAMES, type AgentName } from '../../src/base/index.js'
import { isBeforeTool } from '../../src/agents/mappers/mappers.js'
import { commandLine } from '../../src/agents/install/hook-command.js'
import { launcherPath, launcherState, writeLauncher } from '../../src/agents/install/launcher.js'
import { programOnPath } from '../../src/agents/install/config-paths.js'
import { EVENTS } from '../../src/agents/install/recipes.js'
import { PROGRAM, type Scratch, scratch } from '../cli/program.js'

/** A PATH with the programs that hooks and the launcher need, and no Node. */
function toolsOnly(s: Scratch): string {
  const folder = join(s.folder, 'tools')
  mkdirSync(folder, { recursive: true })
  for (const name of ['cat', 'date', 'git', 'rm', 'sh'])
    if (!existsSync(join(folder, name)))
      symlinkSync(programOnPath(name, process.env) ?? '', join(folder, name))
  return folder
}
const input = (s: Scratch) => JSON.stringify({ session_id: 's', cwd: s.project, prompt: 'Hello' })

/** The command of a hook, as it is in the settings of Claude Code. */
function installedLine(
  s: Scratch,
  event: string,
  file = join(s.folder, 'user/.claude/settings.json'),
) {
  const { hooks } = JSON.parse(readFileSync(file, 'utf8')) as {
    hooks: Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>
  }
  return hooks[event]?.[0]?.hooks[0]?.command ?? ''
}

test('the installed line saves without savestate and node on PATH', () => {
  using s = scratch({ 'package.json': '{}' })
  expect(s.run(['install', 'claude', '-y', '--strict']).code).toBe(0)
  const launcher = launcherPath(s.home)
  expect(statSync(launcher).mode & 0o777).toBe(0o700)
  const line = installedLine(s, 'UserPromptSubmit')
  expect(line).toBe(
    commandLine({ launcher, strict: true }, { agent: 'claude', event: 'UserPromptSubmit' }),
  )
  const setting = { input: input(s), env: { PATH: toolsOnly(s) } }
  expect(s.shell(line, setting)).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ reason: 'You: Hello' }] })
})

test('without SAVESTATE_HOME the hooks save into the store that they were installed for', () => {
  using s = scratch({ 'package.json': '{}' })
  s.run(['install', 'claude', '-y'])
  const line = `unset SAVESTATE_HOME; ${installedLine(s, 'UserPromptSubmit')}`
  expect(s.shell(line, { input: input(s) }).code).toBe(0)
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ reason: 'You: Hello' }] })
})

test('savestate on PATH recreates a removed store; without it nothing happens', () => {
  using s = scratch({ 'package.json': '{}' })
  s.run(['install', 'claude', '-y'])
  const line = installedLine(s, 'UserPromptSubmit')
  rmSync(s.home, { recursive: true })
  expect(s.shell(line, { input: input(s), env: { PATH: toolsOnly(s) } })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })
  expect(s.shell(line, { input: input(s) }).code).toBe(0)
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ reason: 'You: Hello' }] })
})

test('clear keeps the launcher', () => {
  using s = scratch({ 'package.json': '{}' })
  s.run(['install', 'claude', '-y'])
  expect(s.run(['clear', '-y']).code).toBe(0)
  expect(existsSync(launcherPath(s.home))).toBe(true)
})

/** A launcher in a store with an odd name. */
function place(s: Scratch, { node = process.execPath, program = PROGRAM } = {}) {
  const storeHome = join(s.folder, 'it\'s a "store" $HOME')
  mkdirSync(storeHome)
  writeLauncher({
    storeHome,
    environment: { PATH: toolsOnly(s) },
    programPath: program,
    nodePath: node,
    hookFiles: new Map([['claude', '/home/"u"/.claude/settings.json']]),
  })
  const launcher = launcherPath(storeHome)
  const which = (PATH = toolsOnly(s)) =>
    launcherState(storeHome, { PATH, HOME: join(s.folder, 'user') })
  const hook = (agent: AgentName, event: string, strict = false) =>
    s.shell(commandLine({ launcher, strict }, { agent, event }), {
      input: '{}',
      env: { PATH: toolsOnly(s) },
    })
  return { storeHome, launcher, which, hook }
}

/** A program for Node that prints its arguments, and a link to Node beside it if wanted. */
function putProgram(path: string, { withNode = false } = {}): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '#!/usr/bin/env node\nconsole.log(process.argv.slice(2).join(" "))\n')
  chmodSync(path, 0o755)
  if (withNode) symlinkSync(process.execPath, join(dirname(path), 'node'))
  return path
}

test('if the recorded node is gone, another one starts the program', () => {
  using s = scratch()
  const program = putProgram(join(s.folder, "prefix it's/bin/savestate"))
  const node = join(s.folder, 'old/node')
  mkdirSync(dirname(node))
  copyFileSync('/bin/true', node)
  const { which, launcher } = place(s, { node, program })
  expect(which()).toEqual({ path: launcher, exists: true, starts: [node, program], gone: [] })
  rmSync(node)
  expect(which()).toMatchObject({ starts: null, gone: [node] })
  const bin = join(s.folder, 'nodes')
  mkdirSync(bin)
  symlinkSync(process.execPath, join(bin, 'node'))
  expect(which(`${bin}:${toolsOnly(s)}`)).toMatchObject({ starts: [program], gone: [node] })
  const ran = s.shell(`'${launcher.replaceAll("'", `'\\''`)}' hook claude 'a b'`, {
    env: { PATH: `${bin}:${toolsOnly(s)}` },
  })
  expect(ran).toEqual({ code: 0, stdout: 'hook claude a b\n', stderr: '' })
})

test('if the package has moved, savestate on PATH is started, with the recorded node if there is no other', () => {
  using s = scratch()
  const { which } = place(s, { program: join(s.folder, 'gone/savestate') })
  const moved = putProgram(join(s.folder, 'new/savestate'))
  expect(which(`${dirname(moved)}:${toolsOnly(s)}`)).toMatchObject({
    starts: [process.execPath, moved],
    gone: [join(s.folder, 'gone/savestate')],
  })
  // A wrapper that is not a Node script is started directly.
  writeFileSync(moved, '#!/bin/sh\nexit 0\n')
  expect(which(`${dirname(moved)}:${toolsOnly(s)}`).starts).toEqual([moved])
})

test.each([
  ['nvm', '.nvm/versions/node/v20.1.0/bin', '.nvm/versions/node/v22.1.0/bin'],
  ['mise', 'mise/installs/node/20/bin', 'mise/installs/node/22/bin'],
  ['fnm', 'fnm/node-versions/v20/installation/bin', 'fnm/node-versions/v22/installation/bin'],
])('%s: savestate of another Node version is started', (_, old, other) => {
  using s = scratch()
  const { which } = place(s, {
    node: join(s.folder, old, 'node'),
    program: join(s.folder, old, 'savestate'),
  })
  expect(which().starts).toBeNull()
  const program = putProgram(join(s.folder, other, 'savestate'), { withNode: true })
  expect(which().starts).toEqual([join(dirname(program), 'node'), program])
})

test('the temporary folder of an fnm shell is not recorded', () => {
  using s = scratch()
  const version = join(s.folder, 'fnm/node-versions/v20/installation')
  const shell = join(s.folder, 'run/fnm_multishells/1_2')
  const program = putProgram(join(version, 'bin/savestate'), { withNode: true })
  mkdirSync(dirname(shell), { recursive: true })
  symlinkSync(version, shell)
  const storeHome = join(s.folder, 'store')
  mkdirSync(storeHome)
  writeLauncher({
    storeHome,
    environment: { PATH: join(shell, 'bin') },
    programPath: join(shell, 'bin/savestate'),
    nodePath: process.execPath,
    hookFiles: new Map(),
  })
  rmSync(shell)
  expect(launcherState(storeHome, { PATH: toolsOnly(s) })).toMatchObject({
    starts: [join(version, 'bin/node'), program],
    gone: [],
  })
})

test('programs beside a node outside a version manager are not started: they may belong to another user', () => {
  using s = scratch()
  const [old, other] = [join(s.folder, 'homes/me/bin'), join(s.folder, 'homes/other/bin')]
  putProgram(join(other, 'savestate'), { withNode: true })
  const { which } = place(s, { node: join(old, 'node'), program: join(old, 'savestate') })
  expect(which().starts).toBeNull()
})

test('without Savestate every event of every agent succeeds, and one notice is given', () => {
  for (const agent of AGENT_NAMES) {
    using s = scratch()
    const { hook, storeHome, which } = place(s, { node: '/gone/node', program: '/gone/savestate' })
    expect(which()).toMatchObject({ starts: null, gone: ['/gone/node', '/gone/savestate'] })
    const events = agent === 'opencode' ? ['chat.message', 'tool.execute.before'] : EVENTS[agent]
    const answers = [...events, ...events].map((event) => hook(agent, event))
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 0))
    const texts = answers.map(({ stdout, stderr }) => stdout + stderr)
    const notices = texts.filter((text) => text.includes('no longer installed'))
    expect({ agent, notices: notices.length }).toEqual({ agent, notices: 1 })
    const others = texts.filter((text) => !notices.includes(text))
    const silence = agent === 'cline' ? '{"cancel":false}\n' : ''
    expect(others).toEqual(others.map(() => silence))
    // After it was found again, a later loss is reported again.
    writeLauncher({
      storeHome,
      environment: {},
      programPath: PROGRAM,
      nodePath: process.execPath,
      hookFiles: new Map(),
    })
    expect(existsSync(join(storeHome, 'bin/not-found-reported'))).toBe(false)
  }
})

test('the notice is repeated the next day, because the user may not have seen the first', () => {
  using s = scratch()
  const { hook, storeHome } = place(s, { node: '/gone/node', program: '/gone/savestate' })
  const isTold = () => hook('claude', 'SessionStart').stdout.includes('no longer installed')
  expect([isTold(), isTold()]).toEqual([true, false])
  for (const text of ['2020-01-01\n', '']) {
    writeFileSync(join(storeHome, 'bin/not-found-reported'), text)
    expect([isTold(), isTold()]).toEqual([true, false])
  }
})

test('the notice names the file with the hooks, in the form that the agent shows', () => {
  using s = scratch()
  const { hook } = place(s, { node: '/gone/node', program: '/gone/savestate' })
  expect(JSON.parse(hook('claude', 'SessionStart').stdout)).toEqual({
    systemMessage:
      'Savestate is no longer installed, so nothing is saved. Install it again, or remove its hooks from /home/"u"/.claude/settings.json.',
  })
})

test('without Savestate a strict hook stops the tool and says why', () => {
  using s = scratch()
  const { hook, launcher } = place(s, { node: '/gone/node', program: '/gone/savestate' })
  for (const agent of ['claude', 'codex', 'gemini', 'cursor', 'copilot'] as const) {
    for (const event of EVENTS[agent]) {
      const { code, stderr } = hook(agent, event, true)
      const isStopped = stderr.includes('The hooks are strict, so the tool was not run.')
      const isBefore = isBeforeTool(agent, event)
      expect({ agent, event, code, isStopped }).toEqual({
        agent,
        event,
        code: isBefore ? 2 : 0,
        isStopped: isBefore,
      })
    }
  }
  rmSync(launcher)
  expect(hook('claude', 'PreToolUse', true)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('strict'),
  })
  expect(hook('claude', 'Stop', true)).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('without Savestate an MCP client sees a failure', () => {
  using s = scratch()
  const { launcher } = place(s, { node: '/gone/node', program: '/gone/savestate' })
  const ran = s.shell(`'${launcher.replaceAll("'", `'\\''`)}' mcp`, { env: { PATH: toolsOnly(s) } })
  expect(ran).toEqual({
    code: 127,
    stdout: '',
    stderr: 'Savestate was not found. It was at /gone/savestate.\n',
  })
})

test('hooks of a project contain no path of this machine, and report a missing savestate once at the start', () => {
  using s = scratch({ 'package.json': '{}' })
  expect(s.run(['install', 'claude', '--project', '-y']).code).toBe(0)
  const file = join(s.project, '.claude/settings.json')
  expect(readFileSync(file, 'utf8')).not.toContain(s.folder)
  const setting = { input: input(s), env: { PATH: toolsOnly(s) } }
  const start = s.shell(installedLine(s, 'SessionStart', file), setting)
  expect(JSON.parse(start.stdout)).toEqual({
    systemMessage: expect.stringContaining('not installed here'),
  })
  const prompt = installedLine(s, 'UserPromptSubmit', file)
  expect(s.shell(prompt, setting)).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(s.shell(prompt, { input: input(s) }).code).toBe(0)
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ reason: 'You: Hello' }] })
})

test('doctor reports what the launcher starts, what is gone, and hooks that depend on PATH', () => {
  using s = scratch({ 'package.json': '{}' })
  expect(s.run(['doctor']).stdout).not.toContain('Launcher:')
  s.run(['install', 'claude', '-y'])
  const starts = [expect.stringMatching(/node$/), PROGRAM]
  expect(s.json(['doctor'])).toMatchObject({
    hooks: [{ agent: 'claude', scope: 'user', found: 'installed' }],
    launcher: { exists: true, starts, gone: [] },
  })
  expect(s.run(['doctor']).stdout).toContain(`${PROGRAM}\n`)
  const launcher = launcherPath(s.home)
  const text = readFileSync(launcher, 'utf8')
  writeFileSync(launcher, text.replace(/^program=.*/m, "program='/gone/savestate'"))
  expect(s.run(['doctor']).stdout).toContain(
    '/gone/savestate is gone: run `savestate install claude` again',
  )
  expect(s.run(['doctor'], { env: { PATH: toolsOnly(s) } }).stdout).toContain('finds no Savestate')
  writeFileSync(launcher, text.replaceAll(/^(node|program)=.*/gm, "$1='/gone/$1'"))
  const bin = join(s.folder, 'bin')
  putProgram(join(bin, 'savestate'), { withNode: true })
  expect(s.run(['doctor'], { env: { PATH: `${bin}:${process.env['PATH']}` } }).stdout).toContain(
    '/gone/node and /gone/program are gone: run',
  )
  rmSync(launcher)
  expect(s.run(['doctor']).stdout).toContain(
    'savestate-hook is missing: run `savestate install claude` again',
  )
  s.run(['install', 'claude', '-y'])
  expect(existsSync(launcher)).toBe(true)
  const file = join(s.folder, 'user/.claude/settings.json')
  const stop = { hooks: [{ type: 'command', command: 'savestate hook claude Stop' }] }
  writeFileSync(file, JSON.stringify({ hooks: { Stop: [stop] } }))
  expect(s.run(['doctor']).stdout).toContain(
    'Claude Code (user: they depend on PATH; renew them with `savestate install claude`)',
  )
})

test('an install from an npx folder is refused; an uninstall is not', () => {
  using s = scratch()
  const program = join(s.folder, 'cache/_npx/1/node_modules/savestate/dist')
  mkdirSync(dirname(program), { recursive: true })
  symlinkSync(join(dirname(PROGRAM), '..'), program)
  const npx = (args: string) =>
    s.shell(
      `'${process.execPath}' --preserve-symlinks-main '${join(program, 'cli/bin.js')}' ${args}`,
      { env: { PATH: toolsOnly(s) } },
    )
  expect(npx('install claude -y')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('npm install -g savestate'),
  })
  s.run(['install', 'claude', '-y'])
  expect(npx('uninstall claude -y').code).toBe(0)
  expect(existsSync(join(s.folder, 'user/.claude/settings.json'))).toBe(false)
})
