// An index of attacks by an agent, with the required outcomes.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Tool } from '../../src/agents/mappers/event.js'
import { findObjection } from '../../src/agents/guard/guard.js'
import { agentPermission } from '../../src/base/index.js'
import { aliasesOf, COMMAND_NAMES, type CommandName } from '../../src/cli/args/commands-table.js'
import { AGENT, type ProgramTarget, useProgram } from './program-target.js'

const { testRows, testUnchanged } = useProgram()

const byAgent = (line: string) => (s: ProgramTarget) => s.refusal(line.split(' '), AGENT)

/** `some`: the user alone may run it with certain arguments. The lines are those that an agent is refused. */
type Decision = readonly ['anyone'] | readonly ['user' | 'some', ...lines: readonly string[]]

/** The permission for each command. A new command fails here until it has an entry. */
const DECISIONS: Readonly<Record<CommandName, Decision>> = {
  save: ['anyone'],
  list: ['anyone'],
  show: ['anyone'],
  cat: ['anyone'],
  blame: ['anyone'],
  log: ['anyone'],
  diff: ['anyone'],
  commits: ['anyone'],
  notes: ['anyone'],
  search: ['anyone'],
  rewind: ['user', 'rewind works -y'],
  undo: ['user', 'undo -y', 'undo works -y', 'undo 3..1 --theirs -y'],
  redo: ['user', 'redo -y'],
  open: ['anyone'],
  compare: ['anyone'],
  adopt: ['user', 'adopt plan-b -y'],
  bisect: ['anyone'],
  ui: ['user', 'ui --no-open'],
  sessions: ['anyone'],
  resume: ['anyone'],
  fork: ['anyone'],
  export: ['anyone'],
  import: ['anyone'],
  install: ['some', 'install claude --allow-agent-rewind -y', 'install codex --trust -y'],
  uninstall: ['user', 'uninstall claude -y'],
  hook: ['anyone'],
  mcp: ['some', 'mcp --allow-agent-rewind'],
  // A remote gets everything, so only the user chooses one, and takes a session from another machine.
  remote: [
    'some',
    'remote add far postgres://far.example.org/x --plain',
    'remote init',
    'remote set far --auto-push',
    'remote remove far',
    'remote drop far fix-login',
  ],
  push: ['some', 'push --all'],
  pull: ['some', 'pull works --take', 'pull works --into . -y'],
  handoff: ['anyone'],
  pin: ['anyone'],
  unpin: ['user', 'unpin works'],
  name: ['anyone'],
  status: ['anyone'],
  config: ['some', 'config set keepAllHours 0', 'config unset keepAllHours', 'config trust -y'],
  move: ['user', 'move ../outside'],
  prune: ['user', 'prune -y'],
  drop: ['user', 'drop 1 -y'],
  forget: ['user', 'forget a.txt -y'],
  clear: ['user', 'clear -f'],
  'clear-legacy': ['user', 'clear-legacy -f'],
  verify: ['anyone'],
  repair: ['user', 'repair -y'],
  doctor: ['anyone'],
  rekey: ['user', 'rekey -y'],
  watch: ['anyone'],
  run: ['anyone'],
  daemon: ['some', 'daemon stop'],
  completion: ['anyone'],
  help: ['anyone'],
}

describe('an agent runs a command that only the user may run', () => {
  const lines = Object.values(DECISIONS).flatMap(([, ...refused]) => refused)
  testRows(lines.map((line) => [line, byAgent(line), [2, 'NEEDS_PERSON']]))

  test('every command has a decision, which holds for each of its names', () => {
    const decided = COMMAND_NAMES.flatMap((command) => {
      const [who] = Object.hasOwn(DECISIONS, command) ? DECISIONS[command] : ['nothing']
      return [command, ...aliasesOf(command)].map((name) => [
        name,
        who === 'user',
        who !== 'nothing',
      ])
    })
    const has = () => false
    const actual = decided.map(([name]) => {
      const permission = agentPermission({ command: String(name), action: undefined, has })
      return [name, permission !== 'free', true]
    })
    expect(actual).toEqual(decided)
  })
})

describe('an agent uses what it may run', () => {
  type Call = { readonly name: string; readonly given: object }
  /** The answer of the MCP server to one call of a tool. */
  const call = (s: ProgramTarget, { name, given }: Call) => {
    const say = (id: number, method: string, params: object) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
    const client = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    }
    const input = say(1, 'initialize', client) + say(2, 'tools/call', { name, arguments: given })
    const answers = s
      .run(['mcp'], { ...AGENT, input })
      .stdout.trim()
      .split('\n')
    const { result } = answers.map((line) => JSON.parse(line)).find(({ id }) => id === 2)
    return result.structuredContent
  }
  const codeOf = (name: string, given: object) => (s: ProgramTarget) =>
    call(s, { name, given }).error.code
  testRows([
    ['save under a name of the user', byAgent('save --name works'), [2, 'NEEDS_PERSON']],
    ['move a name of the user', byAgent('name 1 works'), [2, 'NEEDS_PERSON']],
    [
      'save under a name of the user by MCP',
      codeOf('checkpoint_save', { name: 'works' }),
      'NEEDS_PERSON',
    ],
    [
      'give a name by MCP that a shell would run',
      codeOf('checkpoint_save', { name: '$(x)' }),
      'BAD_INPUT',
    ],
    [
      'invent the token of a rewind by MCP',
      codeOf('checkpoint_rewind', { ref: 'works', token: 'yes' }),
      'AGENT_REWIND_OFF',
    ],
    [
      'plan a rewind by MCP without the switch',
      (s) => {
        const { applied, token: given } = call(s, {
          name: 'checkpoint_rewind',
          given: { ref: 'works' },
        })
        return [applied, given]
      },
      [false, undefined],
    ],
    [
      'compare a path outside by MCP',
      codeOf('checkpoint_diff', { from: 'works', paths: ['../outside/precious'] }),
      'BAD_INPUT',
    ],
  ])
})

describe('an agent writes a line of shell around the check of the program', () => {
  const line = (command: string) => (s: ProgramTarget) => {
    const tool: Tool = { name: 'Bash', input: { command }, callId: 'c', effect: 'anything' }
    return findObjection(tool, { cwd: s.project, home: join(s.folder, 'user'), storeHome: s.home })
      ?.type
  }
  testRows([
    ['by an alias', line('savestate restore 1 -y'), 'needs-user'],
    ['behind another program', line('cd src && sudo npx -y savestate undo -y'), 'needs-user'],
    [
      'by our own `run`, without the mark',
      line('savestate run -- env -u CLAUDECODE savestate rewind 1 -y'),
      'needs-user',
    ],
    ['as text for a shell', line("echo 'savestate rewind 1 -y' | bash"), 'needs-user'],
    ['in a variable', line('S=savestate; $S rewind 1 -y'), 'needs-user'],
    ['by find', line('find . -exec savestate rewind 1 -y \\;'), 'needs-user'],
    ['with the mark removed', line('env -u CLAUDECODE savestate list'), 'mark'],
    ['behind 50,000 characters', line(`${'true; '.repeat(10_000)}savestate undo -y`), 'too-long'],
    ['on the store by its path', (s) => line(`rm -rf ${s.home}`)(s), 'store'],
    ['on the store by its variable', line('rm -rf $SAVESTATE_HOME'), 'store'],
    ['on the store behind a link', line('cat link/ledger.db'), 'store'],
    ['on the store by a pattern', line('cat ../sto*/ledger.db'), 'store'],
  ])
})

testUnchanged()
