// What an agent may not do by itself: go back, remove for good, and touch the store's own files.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Tool } from '../src/adapters/agents/event.js'
import { objectionTo } from '../src/adapters/guard/guard.js'
import { commandsIn } from '../src/adapters/guard/shell-words.js'
import { agentMark, MARKS } from '../src/cli/agent-mark.js'
import { NO_AGENT } from '../scripts/no-agent.mjs'
import { type Scratch, scratch } from './cli/program.js'
import { EACH_WAY } from './daemon-helpers.js'
import { tries } from './effort.js'

const PLACES = { cwd: '/work/app', home: '/home/me', storeHome: '/home/me/.savestate' }

function objection(command: unknown) {
  const tool: Tool = { name: 'Bash', input: { command }, callId: 'c', effect: 'anything' }
  return objectionTo(tool, PLACES)
}

test('a line of shell is taken apart into the programs it starts', () => {
  const line = [
    `cd a && FOO=1 b "c d" 'e' \\f; g | h > out # i`,
    'j $(k l) "m `n` $(o "p")" & (q); bash -lc \'r s\'; eval "t u"',
    "cat <<'END' > file\nnot a command\nEND",
    'sh <<END\nv w\nEND',
    'x \\\ny',
  ].join('\n')
  expect(commandsIn(line).map(({ words }) => words)).toEqual([
    ['cd', 'a'],
    ['FOO=1', 'b', 'c d', 'e', 'f'],
    ['g'],
    ['h'],
    ['k', 'l'],
    ['j', '$', 'm n o "p"'],
    ['n'],
    ['o', 'p'],
    ['q'],
    ['bash', '-lc', 'r s'],
    ['r', 's'],
    ['eval', 't u'],
    ['t', 'u'],
    ['cat'],
    ['sh'],
    ['v', 'w'],
    ['x', 'y'],
  ])
})

test('what a redirection names is a target and no argument', () => {
  const line = `a 2>b {c}<d >&e '2'>f >> "g h" <<< i <> j >| k 3>&1 < <(l) m <<-"n o" p\n\t q\n\tn o\nr>s`
  expect(commandsIn(line)).toEqual([
    { words: ['l'], targets: [] },
    {
      words: ['a', '2', 'm', 'p'],
      targets: ['b', 'd', 'e', 'f', 'g h', 'i', 'j', 'k', '1', '$'],
    },
    { words: ['r'], targets: ['s'] },
  ])
})

const ARGUMENTS = ['undo', '-y', '--dry-run', '--help', '--', '2', "'3'", '"a b"', String.raw`\4`]
const REDIRECTIONS = [
  '>',
  '>>',
  '>|',
  '<',
  '<>',
  '<<<',
  '>&',
  '&>',
  '&>>',
  '2>',
  '1>>',
  '3<',
  '{n}>',
]
const TARGETS = ['--help', '--dry-run', 'undo', '"a b"', String.raw`\-h`]

test('bash gives a program the words that are taken for its arguments', () => {
  let seed = 7
  const oneOf = (list: readonly string[]) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return list[(seed >> 8) % list.length] ?? ''
  }
  const piece = () =>
    oneOf(['word', 'redirection']) === 'word'
      ? ` ${oneOf(ARGUMENTS)}`
      : `${oneOf(['', ' '])}${oneOf(REDIRECTIONS)}${oneOf(['', ' '])}${oneOf(TARGETS)}`
  const lines = Array.from({ length: tries(1600) }, (_, at) =>
    [`p line-${at} .`, ...Array.from({ length: 6 }, piece)].join(''),
  )
  using s = scratch({ '--help': '', '--dry-run': '', undo: '', 'a b': '', '-h': '' })
  const script = ['p() { printf "%s\\0" p "$@" >&9; echo >&9; }', 'exec 9>../told', ...lines]
  s.write({ '../script': script.join('\n') })
  s.shell('. ../script', { shell: 'bash' })
  const told = readFileSync(join(s.folder, 'told'), 'utf8').split('\n').slice(0, -1)
  const ran = told.map((words) => words.split('\0').slice(0, -1))
  // Some make no sense to bash, as `2>&undo`, and are not run at all.
  expect(ran.length).toBeGreaterThan(lines.length * 0.9)
  const seen = new Map(lines.map((line, at) => [`line-${at}`, commandsIn(line)[0]?.words]))
  expect(ran.map(([, line = '']) => seen.get(line))).toEqual(ran)
})

test.each([
  ['savestate rewind 3 -y', 'rewind'],
  ['savestate restore 3 -y', 'restore'],
  ['npx savestate -C x checkout 1', 'checkout'],
  ['savestate back -y', 'back'],
  ['cd src && savestate -C .. undo --yes', 'undo'],
  ['echo y | /usr/local/bin/savestate redo', 'redo'],
  ['SAVESTATE_NO_DAEMON=1 sudo -u me npx -y savestate@0.1.0 prune -y', 'prune'],
  ['node ./node_modules/savestate/dist/cli/bin.js forget a.txt -y', 'forget'],
  ['node ./node_modules/savestate/dist/cli/cli.js drop 1 -y', 'drop'],
  [`bash -lc "true; savestate clear -f"`, 'clear'],
  ['savestate drop 1 2 -y', 'drop'],
  ['savestate config set keepAllHours 0', 'config'],
  ['savestate config unset --project keepAllHours', 'config'],
  ['echo "$(savestate rewind blmn -y)"', 'rewind'],
  ['if true; then savestate uninstall claude -y; fi', 'uninstall'],
  ['savestate daemon stop', 'daemon'],
  ['savestate install claude --allow-agent-rewind -y', 'install'],
  ['savestate install codex --trust -y', 'install'],
  ['savestate mcp --allow-agent-rewind < calls.json', 'mcp'],
  [['savestate', 'rekey', '-y'], 'rekey'],
  ['savestate undo -y >--dry-run', 'undo'],
  ['savestate undo -y > --dry-run', 'undo'],
  ['savestate undo -y <<< --help', 'undo'],
  ['savestate clear --yes 2>--help', 'clear'],
  ['savestate undo -y &>--help', 'undo'],
  ['savestate undo -y >& --help', 'undo'],
  ['savestate undo -y >| -h', 'undo'],
  ['savestate undo -y <<--help\n--help', 'undo'],
  ["savestate undo -y <<'--help me'\n--help me", 'undo'],
  ['savestate undo -y -- --help', 'undo'],
  ['savestate -C --dry-run clear --yes', 'clear'],
  ['savestate >out undo -y', 'undo'],
  ['>out savestate undo -y', 'undo'],
  ['savestate < <(true) undo -y', 'undo'],
  ['savestate -C $(pwd) undo -y', 'undo'],
  ['savestate -C `pwd` undo -y', 'undo'],
  // The first is one command in bash and two in sh; the second names another file in zsh.
  ['savestate undo -y &>x --dry-run', 'undo'],
  ['true &>x savestate undo -y', 'undo'],
  ['savestate &>x undo -y', 'undo'],
  ['savestate undo -y >! --dry-run', 'undo'],
  ['savestate >! undo -y', 'undo'],
  ['savestate >&-undo -y', 'undo'],
  ["bash <<< 'savestate undo -y'", 'undo'],
  ["cat <<A\n A\n'\nA\nsavestate undo -y # '", 'undo'],
])('is for a person: %s', (command, what) => {
  expect(objection(command)).toMatchObject({ type: 'needs-person', what })
})

test.each([
  'savestate rewind 3 --dry-run',
  'savestate rewind --help',
  'savestate list && savestate diff 1',
  'savestate save -m "before savestate rewind"',
  'savestate install claude -y',
  'savestate daemon start',
  'grep -rn "savestate rewind" docs',
  'git commit -m "Say what savestate undo does"',
  "cat <<'END' >> README.md\nsavestate undo -y\nEND",
  'echo savestate undo -y',
  '# savestate undo -y',
  'ls ~/.savestate-notes /home/me/.savestated',
  'savestate undo --dry-run > plan.txt 2>&1',
  'savestate undo > plan.txt --dry-run',
  'npm exec savestate -- undo --dry-run',
  'cat <<END > undo\nsavestate undo -y\nEND',
])('is nobody’s business: %s', (command) => {
  expect(objection(command)).toBeUndefined()
})

test.each([
  'rm -rf ~/.savestate',
  'cat "$HOME/.savestate/ledger.db"',
  'sqlite3 /home/me/./.savestate/ledger.db .dump',
  'echo x > ~/.savestate/settings.json',
  'cat <../../home/me/.savestate/ledger.db',
  '(echo x; echo y) 2>>~/.savestate/log',
  "sed -i 's/program=.*/program=x/' ~/.savestate/bin/savestate-hook",
  '~/.savestate/bin/savestate-hook rewind 3 --yes',
  'cd ../../home/me && tar c x ../../home/me/.savestate/objects.git',
])('is about the store: %s', (command) => {
  expect(objection(command)).toEqual({ type: 'store' })
})

test('tools for files are kept from the store, by path and by patch', () => {
  const tool = (input: unknown): Tool => ({ name: 'x', input, callId: 'c', effect: 'writes' })
  const patch = (path: string) => `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch`
  expect(objectionTo(tool({ file_path: '/home/me/.savestate/x' }), PLACES)).toEqual({
    type: 'store',
  })
  expect(objectionTo(tool({ command: patch('../../home/me/.savestate/x') }), PLACES)).toEqual({
    type: 'store',
  })
  const harmless = { file_path: 'docs/x.md', content: 'savestate rewind 3 -y' }
  expect(objectionTo(tool(harmless), PLACES)).toBeUndefined()
  expect(objectionTo(tool({ command: patch('a.txt') }), PLACES)).toBeUndefined()
})

test('our own scripts and tests take away every mark that the program looks at', () => {
  const marks = MARKS.map(([variable]) => variable)
  expect(Object.keys(NO_AGENT).sort()).toEqual([...marks].sort())
  expect(agentMark(NO_AGENT)).toBeUndefined()
})

function before(s: Scratch, command: string, { cwd = s.project }: { readonly cwd?: string } = {}) {
  const payload = {
    session_id: 's-1',
    cwd,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
    tool_use_id: command,
  }
  return s.run(['hook', 'claude', 'PreToolUse'], { input: JSON.stringify(payload) })
}

describe.each(EACH_WAY)('$way:', ({ open }) => {
  test('an agent cannot be talked into going back, by its hook or by a script, unless a person has allowed it', () => {
    using s = open({ 'a.txt': 'one\n' })
    const AGENT = { env: { CLAUDECODE: '1' } }
    expect(s.run(['save', '-m', 'one']).code).toBe(0)
    s.write({ 'a.txt': 'two\n' })
    const text = () => readFileSync(join(s.project, 'a.txt'), 'utf8')

    const { hookSpecificOutput: said } = JSON.parse(before(s, 'savestate rewind 1 -y').stdout) as {
      readonly hookSpecificOutput: Readonly<Record<string, string>>
    }
    expect(said['permissionDecision']).toBe('deny')
    expect(said['permissionDecisionReason']).toMatch(/Ask the user/)
    expect(before(s, 'npm test').stdout).toBe('')
    expect(before(s, `ls ${s.home}`).stdout).toMatch(/"deny".*may not access the store/)

    const refused = s.run(['rewind', 'one', '-y'], AGENT)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/an agent has started it \(CLAUDECODE is set\)/)
    expect(refused.stderr).toMatch(/install claude --allow-agent-rewind/)
    expect(text()).toBe('two\n')
    expect(s.run(['rewind', '1', '--dry-run'], AGENT).code).toBe(0)
    const allow = ['install', 'claude', '--allow-agent-rewind', '-y', '--json']
    expect(s.run(allow, AGENT).stderr).toMatch(/"NEEDS_PERSON"/)

    const granted = JSON.parse(s.run(allow).stdout) as { readonly agents: readonly unknown[] }
    expect(granted.agents).toMatchObject([{ agent: 'claude', permission: 'grant', applied: true }])
    expect(before(s, 'savestate rewind 1 -y').stdout).toBe('')
    const first = (
      s.json(['list']) as { readonly checkpoints: readonly { readonly id: string }[] }
    ).checkpoints.at(-1)
    expect(s.run(['rewind', first?.id ?? '', '-y'], AGENT).code).toBe(0)
    expect(text()).toBe('one\n')
    // What cannot be taken back stays a person's, and so does the right of another agent.
    expect(s.run(['clear', '-f', '--json'], AGENT).stderr).toMatch(/"NEEDS_PERSON"/)
    expect(s.run(['undo', '-y', '--json'], { env: { GEMINI_CLI: '1' } }).stderr).toMatch(
      /"NEEDS_PERSON"/,
    )
    expect(existsSync(join(s.home, 'ledger.db'))).toBe(true)

    // An install without the switch takes it back.
    expect(s.run(['install', 'claude', '-y']).stdout).toMatch(
      /may no longer rewind without asking you/,
    )
    expect(s.run(['undo', '-y', '--json'], AGENT).stderr).toMatch(/"NEEDS_PERSON"/)
    expect(s.run(['undo', '-y']).code).toBe(0)
  })

  test('a folder that the agent tells by half a path is counted from where the hook runs', () => {
    using s = open({ 'a.txt': 'one\n', 'sub/b.txt': 'two\n' })
    s.run(['save'])
    for (const cwd of ['.', './', 'sub', '~', '..']) {
      expect(before(s, 'npm test', { cwd }).stdout).not.toContain('deny')
      expect(before(s, `ls ${s.home}`, { cwd }).stdout).toMatch(/"deny".*may not access the store/)
    }
    expect(before(s, 'cat store/ledger.db', { cwd: '..' }).stdout).toMatch(
      /may not access the store/,
    )
    expect(before(s, 'cat store/ledger.db', { cwd: '.' }).stdout).not.toContain('deny')
    // What is allowed in the project is not allowed beside it.
    s.run(['install', 'claude', '--project', '--allow-agent-rewind', '-y'])
    expect(before(s, 'savestate undo -y', { cwd: 'sub' }).stdout).not.toContain('deny')
    expect(before(s, 'savestate undo -y', { cwd: '..' }).stdout).toContain('deny')
  })
})

test('for a project it is allowed in that project alone, until the uninstall', () => {
  using s = scratch({ 'a.txt': 'one\n', 'sub/b.txt': 'b\n' })
  const AGENT = { env: { GEMINI_CLI: '1' } }
  s.run(['save'])
  s.write({ 'a.txt': 'two\n' })
  s.run(['save'])
  expect(s.run(['install', 'gemini', '--project', '--allow-agent-rewind', '-y']).code).toBe(0)
  expect(s.run(['rewind', '2', '-y'], { ...AGENT, cwd: join(s.project, 'sub') }).code).toBe(0)
  mkdirSync(join(s.folder, 'other'))
  const other = join(s.folder, 'other')
  expect(s.run(['undo', '-y', '-C', other], AGENT).stderr).toMatch(
    /Only a user may run this command/,
  )
  expect(s.run(['undo', '-y', '-C', s.project], { ...AGENT, cwd: other }).code).toBe(0)
  expect(s.run(['uninstall', 'gemini', '--project', '-y']).code).toBe(0)
  expect(s.run(['redo', '-y'], AGENT).stderr).toMatch(/Only a user may run this command/)
})
