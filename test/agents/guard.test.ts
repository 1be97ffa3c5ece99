// Actions that agents may not take by themselves: rewind, remove permanently, and access the store.
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Tool } from '../../src/agents/mappers/event.js'
import { findObjection } from '../../src/agents/guard/guard.js'
import { allCommands } from '../../src/agents/guard/our-commands.js'
import { splitLine } from '../../src/base/index.js'
import { AGENT_MARKS } from '../../src/base/index.js'
import { agentMark } from '../../src/cli/runtime/request.js'
import { NO_AGENT } from '../../scripts/no-agent.mjs'
import { type Scratch, scratch } from '../cli/program.js'
import { EACH_WAY } from '../daemon/daemon-helpers.js'
import { tries } from '../support/test-budget.js'

const PLACES = { cwd: '/work/app', home: '/home/me', storeHome: '/home/me/.savestate' }

function objection(command: unknown) {
  const tool: Tool = { name: 'Bash', input: { command }, callId: 'c', effect: 'anything' }
  return findObjection(tool, PLACES)
}

test('a line of shell is split into the commands it starts', () => {
  const line = [
    `cd a && FOO=1 b "c d" 'e' \\f; g | h > out # i`,
    'j $(k l) "m `n` $(o "p")" & (q); bash -lc \'r s\'; eval "t u"',
    'x \\\ny || z |& w',
  ].join('\n')
  const commands = splitLine(line)
  expect(commands.map(({ words, targets }) => [...words, ...targets])).toEqual([
    ['k', 'l'],
    ['n'],
    ['o', 'p'],
    ['cd', 'a'],
    ['FOO=1', 'b', 'c d', 'e', 'f'],
    ['g'],
    ['h', 'out'],
    ['j', '$', 'm $ $'],
    ['q'],
    ['bash', '-lc', 'r s'],
    ['eval', 't u'],
    ['x', 'y'],
    ['z'],
    ['w'],
  ])
  const fed = commands.filter(({ isFed }) => isFed)
  expect(fed.map(({ words }) => words[0])).toEqual(['h', 'w'])
  // Texts that are run follow the command that runs them.
  expect(allCommands(line).map(({ words }) => words)).toEqual(
    expect.arrayContaining([
      ['r', 's'],
      ['t', 'u'],
    ]),
  )
})

test('the target of a redirection is not a word of its command', () => {
  const line = 'a 2>b c; {d}<e f; g >&h; i &>j; l <<< m; n < <(o) p'
  const split = splitLine(line).map(({ words, targets }) => [words.join(' '), targets.join(' ')])
  expect(split).toEqual([
    ['o', ''],
    ['a c', 'b'],
    ['f', 'e'],
    ['g', 'h'],
    ['i', 'j'],
    ['l', 'm'],
    ['n p', '$'],
  ])
})

test('a line that is nested too deeply is parsed without the nesting', () => {
  for (const opening of ['(', '$(', '"$(', '<(']) {
    const line = `${opening.repeat(10_000)}savestate undo -y`
    expect(objection(line)).toMatchObject({ type: 'needs-user', what: 'undo' })
  }
})

const ARGUMENTS = ['undo', '-y', '--dry-run', '--help', '--', '2', "'3'", '"a b"', String.raw`\4`]
const REDIRECTIONS = ['>', '>>', '>|', '<', '<>', '<<<', '&>', '&>>', '2>', '1>>', '3<']
const TARGETS = ['--help', '--dry-run', 'undo', '"a b"', String.raw`\-h`]

test('bash passes the same words to a program', () => {
  let seed = 7
  const oneOf = (list: readonly string[]) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return list[(seed >> 8) % list.length] ?? ''
  }
  const piece = () =>
    oneOf(['word', 'redirection']) === 'word'
      ? ` ${oneOf(ARGUMENTS)}`
      : ` ${oneOf(REDIRECTIONS)}${oneOf(['', ' '])}${oneOf(TARGETS)}`
  const lines = Array.from({ length: tries(1600) }, (_, at) =>
    [`p line-${at} .`, ...Array.from({ length: 6 }, piece)].join(''),
  )
  using s = scratch({ '--help': '', '--dry-run': '', undo: '', 'a b': '', '-h': '' })
  const script = ['p() { printf "%s\\0" p "$@" >&9; echo >&9; }', 'exec 9>../recorded', ...lines]
  s.write({ '../script': script.join('\n') })
  s.shell('. ../script', { shell: 'bash' })
  const recorded = readFileSync(join(s.folder, 'recorded'), 'utf8').split('\n').slice(0, -1)
  const ran = recorded.map((words) => words.split('\0').slice(0, -1))
  expect(ran.length).toBe(lines.length)
  for (const [at, words] of ran.entries())
    expect(splitLine(lines[at] ?? '')[0]?.words).toEqual(words)
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
  ['savestate &>x undo -y', 'undo'],
  ['savestate undo -y >! --dry-run', 'undo'],
  ["bash <<< 'savestate undo -y'", 'undo'],
  ["cat <<A\n A\n'\nA\nsavestate undo -y # '", 'undo'],
  ['savestate run -- savestate rewind 1 -y', 'rewind'],
  ["savestate run -- bash -c 'savestate rewind 1 -y'", 'rewind'],
  ["echo 'savestate rewind 1 -y' | bash", 'rewind'],
  ['echo savestate rewind 1 -y |& sudo bash', 'rewind'],
  ["{ printf 'savestate '; echo 'savestate rewind 1 -y'; } | sh", 'rewind'],
  ["bash <(echo 'savestate rewind 1 -y')", 'rewind'],
  ['eval $(echo savestate undo -y)', 'undo'],
  ['eval "$(echo savestate undo -y)"', 'undo'],
  ["eval savestate 'undo -y'", 'undo'],
  ['cat <<END\n$(savestate undo -y)\nEND', 'undo'],
  ['find . -name x -exec savestate rewind 1 -y \\;', 'rewind'],
  ["$'savestate' rewind 1 -y", 'rewind'],
  ['{savestate,rewind,1,-y}', 'rewind'],
  ['coproc savestate rewind 1 -y', 'rewind'],
  ['ionice -c3 savestate rewind 1 -y', 'rewind'],
  ["script -qc 'savestate rewind 1 -y' /dev/null", 'rewind'],
  ["su me -c 'savestate rewind 1 -y'", 'rewind'],
  ['flock /tmp/lock savestate rewind 1 -y', 'rewind'],
  ["trap 'savestate rewind 1 -y' EXIT", 'rewind'],
  ["git -c alias.x='!savestate rewind 1 -y' x", 'rewind'],
  ["git rebase --exec 'savestate undo -y' HEAD~2", 'undo'],
  [`awk 'BEGIN{system("savestate rewind 1 -y")}'`, 'rewind'],
  [`python3 -c 'import subprocess; subprocess.run(["savestate","rewind","1","-y"])'`, 'rewind'],
  [`node -e 'execSync("savestate rewind 1 -y")'`, 'rewind'],
  ["make RUN='savestate rewind 1 -y'", 'rewind'],
  ['S=savestate; $S rewind 1 -y', 'rewind'],
  ['for s in savestate; do "$s" undo -y; done', 'undo'],
  ['echo rewind 1 -y | xargs savestate', 'xargs'],
  // Redirections hide neither the command nor its first argument.
  ['savestate >list undo -y', 'undo'],
  ['savestate 2>x undo -y', 'undo'],
  ['savestate config >x set keepAllHours 0', 'config'],
  ['savestate install claude >x --allow-agent-rewind -y', 'install'],
  // A line may end with spaces.
  ['ls \nsavestate undo -y', 'undo'],
  ['git status \t\n  savestate undo -y', 'undo'],
  // An apostrophe in double quotes does not quote a substitution.
  [`echo "it's $(savestate undo -y), isn't it"`, 'undo'],
  ['git commit -m "it\'s `savestate undo -y`, isn\'t it"', 'undo'],
  ['echo "$( (savestate undo -y) )"', 'undo'],
  // Brackets in an argument do not separate words.
  ["savestate -C '/app/(a b)/[id]' undo -y", 'undo'],
  ['savestate -C /app/x,y undo -y', 'undo'],
  ["savestate undo -y '(--dry-run)'", 'undo'],
  // The splitter does not follow these, so every text counts as a command.
  ["cat <<A\necho it's\nA\nsavestate undo -y\n'", 'undo'],
  ["echo $'it\\'s'; savestate undo -y; echo '", 'undo'],
  ["cat <<'END' >> README.md\nsavestate undo -y\nEND", 'undo'],
])('only the user may run: %s', (command, what) => {
  expect(objection(command)).toMatchObject({ type: 'needs-user', what })
})

test.each([
  ['unset CLAUDECODE; savestate list', 'CLAUDECODE'],
  ['env -u GEMINI_CLI npx savestate show 1', 'GEMINI_CLI'],
  ["AI_AGENT= bash -c 'savestate status'", 'AI_AGENT'],
])('names an agent variable together with savestate: %s', (command, variable) => {
  expect(objection(command)).toEqual({ type: 'mark', variable })
})

test('a line that is too long to be parsed must not name savestate', () => {
  const long = 'true; '.repeat(10_000)
  expect(objection(`${long}save''state undo -y`)).toEqual({ type: 'too-long' })
  expect(objection(`${long}npm test`)).toBeUndefined()
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
  'echo savestate undo -y',
  '# savestate undo -y',
  'ls ~/.savestate-notes /home/me/.savestated',
  'savestate undo --dry-run > plan.txt 2>&1',
  'savestate undo > plan.txt --dry-run',
  "git commit -m 'Explain `savestate undo`'",
  'npm exec savestate -- undo --dry-run',
  'git commit -m "savestate rewind docs"',
  'git commit -am "savestate: undo restores modes" && git push',
  "git log --grep='savestate rewind' --oneline",
  'git -C /work/savestate checkout main',
  'cd /work/savestate && git checkout -b undo && git restore . && rm -rf dist',
  'git clone https://example.org/savestate back',
  'gh pr create --title "savestate rewind" --body "What savestate undo does"',
  'grep savestate docs/guide/coding-agents.md',
  "rg 'savestate (rewind|undo)' src | head -5",
  "sed -i 's/savestate back/savestate rewind/' docs/x.md",
  'cp -r savestate back && mv savestate rewind',
  'ls node_modules/savestate restore',
  'printf "%s\\n" "savestate rewind 3" >> notes.md',
  'echo "run savestate undo" | tee -a notes.md',
  'which savestate && savestate --version',
  'man savestate rewind',
  'savestate help rewind',
  'savestate list --grep "savestate rewind"',
  'savestate run -- npm test',
  'npm install -g savestate && savestate doctor',
  'npm test -- savestate',
  'pip install savestate',
  'env -u CLAUDECODE npm test',
  'docker ps | grep savestate',
  "bash -lc 'savestate rewind 3 --dry-run 2>&1 | head -20'",
  `bash -lc 'grep -rn "savestate rewind" docs'`,
])('is allowed: %s', (command) => {
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
])('accesses the store: %s', (command) => {
  expect(objection(command)).toEqual({ type: 'store' })
})

const STORE = { type: 'store' } as const

function objectionToInput(
  input: unknown,
  { name = 'x', effect = 'writes' as Tool['effect'] } = {},
) {
  return findObjection({ name, input, callId: 'c', effect }, PLACES)
}

test('file tools may not access the store, by path or by patch', () => {
  const patch = (path: string) => `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch`
  expect(objectionToInput({ file_path: '/home/me/.savestate/x' })).toEqual(STORE)
  expect(objectionToInput({ command: patch('../../home/me/.savestate/x') })).toEqual(STORE)
  const harmless = { file_path: 'docs/x.md', content: 'savestate rewind 3 -y' }
  expect(objectionToInput(harmless)).toBeUndefined()
  expect(objectionToInput({ command: patch('a.txt') })).toBeUndefined()
})

test.each([
  [{ source: '/home/me/.savestate/ledger.db', destination: 'x' }],
  [{ paths: ['a.txt', '~/.savestate/ledger.db'] }],
  [{ edits: [{ target: { uri: 'file:///home/me/.savestate/ledger.db' } }] }],
  [{ uri: 'file://localhost/home/me/%2Esavestate/ledger.db' }],
  [{ pattern: '/home/me/.savestate/**' }],
  [{ pattern: '.savestate/**/*.db', path: '~' }],
  [{ pattern: '/home/*/.save*/ledger.db' }],
  [{ pattern: '~/.{savestate,config}/*' }],
])('an unknown tool may not name the store in any field: %j', (input) => {
  for (const effect of ['reads', 'writes', 'anything'] as const)
    expect(objectionToInput(input, { name: 'mcp__files__op', effect })).toEqual(STORE)
})

test.each([
  [{ file_path: 'docs/x.md', content: '~/.savestate/ledger.db' }],
  [{ file_path: 'a', old_string: '/home/me/.savestate', new_string: '/home/me/.savestate/x' }],
  [{ pattern: '/home/me/.savestate', path: 'src' }, 'Grep'],
  [{ pattern: '**/*.ts' }],
  [{ pattern: '~/*', path: '/home/me' }],
  [{ pattern: '~/[a', path: '/home/me/{x' }],
  [{ uri: 'https://example.org/home/me/.savestate' }],
  [{ prompt: '~/.savestate/ledger.db' }],
])('does not access the store: %j', (input, name = 'x') => {
  expect(objectionToInput(input, { name })).toBeUndefined()
})

test('the store is recognized through links, and by each of its paths', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  // /link is the home of the user, and /real the folder that it leads to.
  const [real, link] = [join(s.folder, 'real'), join(s.folder, 'link')]
  mkdirSync(join(real, '.savestate'), { recursive: true })
  symlinkSync(real, link)
  symlinkSync(join(link, '.savestate'), join(s.project, 'inside'))
  symlinkSync(join(real, '.savestate'), join(s.folder, 'elsewhere'))
  mkdirSync(join(real, 'deep'))
  symlinkSync(join(real, 'deep'), join(s.project, 'deep'))
  const run = (command: string, storeHome: string) => {
    const tool: Tool = { name: 'Bash', input: { command }, callId: 'c', effect: 'anything' }
    return findObjection(tool, { cwd: s.project, home: link, storeHome })
  }
  const commands = [
    'rm -rf ~/.savestate',
    `cat ${real}/.savestate/ledger.db`,
    `cat ${link}/.savestate/not-there/yet`,
    'cat inside/ledger.db',
    'echo x > inside/new',
    'cat deep/../.savestate/ledger.db',
    'cd ~ && rm -r .savestate',
    'cat ~/.savest*/ledger.db',
    'dd if=inside/ledger.db of=x',
    'cat $SAVESTATE_HOME/ledger.db',
    "bash -c 'cat inside/ledger.db'",
  ]
  for (const storeHome of [real, link, s.folder].map((folder) =>
    folder === s.folder ? join(folder, 'elsewhere') : join(folder, '.savestate'),
  ))
    for (const command of commands)
      expect([command, storeHome, run(command, storeHome)]).toEqual([command, storeHome, STORE])
  expect(run('cat deep/../a.txt && ls ~ && cat a.txt', join(real, '.savestate'))).toBeUndefined()
})

test('our own scripts and tests remove every variable by which agents are recognized', () => {
  const marks = AGENT_MARKS.map(([variable]) => variable)
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
  test('an agent cannot rewind, by a tool call or by a script, unless the user has allowed it', () => {
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
    // Irreversible commands stay reserved for the user, and another agent gets no permission.
    expect(s.run(['clear', '-f', '--json'], AGENT).stderr).toMatch(/"NEEDS_PERSON"/)
    expect(s.run(['undo', '-y', '--json'], { env: { GEMINI_CLI: '1' } }).stderr).toMatch(
      /"NEEDS_PERSON"/,
    )
    expect(existsSync(join(s.home, 'ledger.db'))).toBe(true)

    // An install without the flag revokes it.
    expect(s.run(['install', 'claude', '-y']).stdout).toMatch(
      /may no longer rewind without asking you/,
    )
    expect(s.run(['undo', '-y', '--json'], AGENT).stderr).toMatch(/"NEEDS_PERSON"/)
    expect(s.run(['undo', '-y']).code).toBe(0)
  })

  test('a relative folder in an event is resolved against the folder of the hook', () => {
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
    // The permission does not apply outside the project.
    s.run(['install', 'claude', '--project', '--allow-agent-rewind', '-y'])
    expect(before(s, 'savestate undo -y', { cwd: 'sub' }).stdout).not.toContain('deny')
    expect(before(s, 'savestate undo -y', { cwd: '..' }).stdout).toContain('deny')
  })
})

test('a permission for a project applies only there, until the uninstall', () => {
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
