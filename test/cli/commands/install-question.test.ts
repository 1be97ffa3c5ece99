// The question before an install or uninstall, on a real terminal: a summary, all of it on request, and the outcome.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { daemonScratch, isAlive } from '../../daemon/daemon-helpers.js'
import { type Scratch, scratch } from '../program.js'
import { onTerminal } from '../terminal.js'

/** The screen, too wide for any wrapping, after these lines were typed. */
function terminal(s: Scratch, command: string, typed: readonly string[]): string {
  const { stdout } = spawnSync('script', ['-qec', `stty -echo cols 200; ${command}`, '/dev/null'], {
    cwd: s.project,
    env: { ...s.environment, NO_COLOR: '1' },
    encoding: 'utf8',
    input: typed.map((line) => `${line}\n`).join(''),
  })
  return stdout.replaceAll('\r', '')
}

const settings = (s: Scratch) => join(s.folder, 'user/.claude/settings.json')

function putSettings(s: Scratch): void {
  mkdirSync(join(s.folder, 'user/.claude'))
  writeFileSync(settings(s), '{"model": "x"}\n')
}

test('an install shows a summary, the whole change on request, and where the hooks are', () => {
  using s = scratch()
  putSettings(s)
  const declined = terminal(s, 'savestate install claude', ['n'])
  expect(declined).toContain(
    'Claude Code: 10 hooks and 2 deny rules in ~/.claude/settings.json\nNothing else in this file changes.\nMake these changes? [y/N, v to view] Nothing has been changed.',
  )
  expect(declined).not.toContain('PreToolUse')
  const viewed = terminal(s, 'savestate install claude', ['v', 'n'])
  expect(viewed).toMatch(
    /\[y\/N, v to view\] Will be changed: [^]*PreToolUse[^]*\[y\/N, v to view\] Nothing has/,
  )
  expect(readFileSync(settings(s), 'utf8')).toBe('{"model": "x"}\n')
  expect(terminal(s, 'savestate install claude', ['y'])).toContain(
    'Hooks for Claude Code added to ~/.claude/settings.json.\nThey take effect the next time you start it.\n',
  )
  expect(readFileSync(settings(s), 'utf8')).toContain('PreToolUse')
})

test('v uses the pager if the text is longer than the screen', async () => {
  using s = scratch()
  putSettings(s)
  const screen = onTerminal(s, "SAVESTATE_PAGER='echo paged; cat' savestate install claude")
  await screen.shows('v to view]')
  screen.type('v\n')
  await screen.shows('paged')
  await screen.shows('PreToolUse')
  await expect.poll(() => screen.output().split('v to view]').length).toBe(3)
  screen.type('n\n')
  expect(await screen.ended).toBe(1)
})

test('the summary has one line per agent, with the additions per file', () => {
  using s = scratch()
  putSettings(s)
  for (const folder of ['.cline', '.gemini', '.hermes', '.config/opencode'])
    mkdirSync(join(s.folder, 'user', folder), { recursive: true })
  const screen = terminal(s, 'savestate install --all --mcp', ['n'])
  expect(screen).toContain(
    [
      'Claude Code: 10 hooks and 2 deny rules in ~/.claude/settings.json, the MCP server in ~/.claude.json',
      'Gemini CLI: 6 hooks and the MCP server in ~/.gemini/settings.json, 1 deny rule in ~/.gemini/policies/savestate.toml',
      'opencode: a plugin in ~/.config/opencode/plugins/savestate.js',
      'Cline: 9 hook scripts in ~/.cline/hooks',
      'Hermes: 7 hooks in ~/.hermes/config.yaml',
    ].join('\n'),
  )
  s.run(['install', 'claude', '--mcp', '-y'])
  expect(terminal(s, 'savestate install claude', ['y'])).toContain(
    'Claude Code: the MCP server removed from ~/.claude.json\nMake these changes? [y/N, v to view] Configuration of Claude Code changed in ~/.claude.json.\n',
  )
})

test('Codex: the question about trust explains itself in two lines', () => {
  using s = scratch()
  const screen = terminal(s, 'savestate install codex', ['y', 'y'])
  expect(screen).toContain(
    [
      'Codex: 8 hooks in ~/.codex/hooks.json',
      'Make these changes? [y/N, v to view] Codex runs hooks only if you trust them. These 8 run nothing but Savestate.',
      'Your answer is recorded in ~/.codex/config.toml.',
      'Trust them? [y/N, v to view] Hooks for Codex added to ~/.codex/hooks.json.',
    ].join('\n'),
  )
  expect(readFileSync(join(s.folder, 'user/.codex/config.toml'), 'utf8')).toContain('trusted_hash')
  expect(s.run(['uninstall', 'codex', '-y']).code).toBe(0)
  const refused = terminal(s, 'savestate install codex', ['y', 'n'])
  expect(refused).toContain('Codex does not run them until you trust them')
  const again = terminal(s, 'savestate install codex', ['n'])
  expect(again).toContain('Hooks for Codex are installed already.\nCodex does not run them until')
  expect(terminal(s, 'savestate install codex', ['y'])).toContain(
    'Trust them? [y/N, v to view] Hooks for Codex were installed already, and are trusted now.\n',
  )
  expect(terminal(s, 'savestate install codex', [])).toContain('installed already: nothing to do.')
})

test('uninstall --all names only agents that had hooks, and what remains', () => {
  using s = scratch()
  putSettings(s)
  s.run(['install', 'claude', '-y'])
  const screen = terminal(s, 'savestate uninstall --all', ['y'])
  expect(screen).toContain(
    [
      'Claude Code: hooks removed from ~/.claude/settings.json',
      'Nothing else in this file changes.',
      'Remove them? [y/N, v to view] Hooks for Claude Code removed from ~/.claude/settings.json.',
      `Your checkpoints remain in ${s.home}. To remove them: savestate clear --all`,
      'To remove the program: npm rm -g savestate\n',
    ].join('\n'),
  )
  expect(screen).not.toMatch(/gemini|cline/i)
  expect(s.run(['uninstall', '--all']).stdout).toMatch(/^No agent has Savestate hooks here\.\n/)
})

test('an install over HTTP that is declined leaves no open port', () => {
  using s = daemonScratch()
  const { pid } = s.daemon('start')
  const screen = terminal(s, 'savestate install claude --http', ['n'])
  expect(screen).toContain('The file will contain a token for the daemon, so only you can read it.')
  expect(isAlive(pid)).toBe(false)
  expect(s.address()).toBeUndefined()
  expect(existsSync(settings(s))).toBe(false)
})
