// The output of every command, as text and as JSON.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch, steady } from './program.js'

const said = (stdout: string) => ({ code: 0, stdout: `${stdout}\n`, stderr: '' })

test('a new user sees how to begin, and later the newest checkpoints', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const first = s.run([])
  expect(first.code).toBe(0)
  expect(first.stdout).toContain(`Nothing has been saved in ${s.project} yet.`)
  expect(first.stdout).toContain('savestate save -m')
  expect(first.stdout).toContain('\nSee all of it in the browser:           savestate ui\n')
  for (let at = 1; at <= 6; at++) {
    s.write({ 'a.txt': `${at}\n` })
    s.run(['save', '-m', `step ${at}`])
  }
  const later = s.run([])
  expect(later.stdout.match(/step \d/g)).toEqual(['step 6', 'step 5', 'step 4', 'step 3', 'step 2'])
  expect(later.stdout).toContain('savestate rewind\n')
  expect(later.stdout).toContain('\nSee everything in the browser:       savestate ui\n')
})

test('saving thousands of known files prints no more than saving a few', () => {
  const names = Array.from({ length: 2100 }, (_, number) => `f${number % 50}/${number}.txt`)
  using s = scratch(Object.fromEntries(names.map((name) => [name, 'one\n'])))
  s.run(['save'])
  s.write({ 'f7/7.txt': 'changed\n' })
  const second = s.run(['save'])
  expect({ ...second, stdout: steady(second.stdout) }).toEqual(
    said('Saved <id>: 1 file changed, +1 −1.'),
  )
})

test('save reports what it saved, or that nothing changed', () => {
  using s = scratch({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' })
  const first = s.run(['save', '-m', 'the first'])
  expect({ ...first, stdout: steady(first.stdout) }).toEqual(
    said('Saved <id>: 2 files changed, +2 −0.'),
  )
  expect(steady(s.run(['save']).stdout)).toBe('Nothing changed since <id> (just now).\n')
  expect(steady(s.run(['save', '--name', 'works']).stdout)).toBe(
    'Nothing changed since <id> (just now), which is named works.\n',
  )
  s.write({ 'a.txt': 'changed\n' })
  expect(s.json(['save', '--name', 'works', '-m', 'why'])).toMatchObject({
    created: true,
    name: 'works',
    reason: 'why',
    files: 1,
    insertions: 1,
    deletions: 1,
  })
})

test('save warns on stderr about files that a user would miss, not about ignored ones', () => {
  using s = scratch({ 'a.txt': 'one\n', '.gitignore': 'junk\n', junk: 'x' })
  expect(s.run(['save']).stderr).toBe('')
  s.write({ 'big.bin': 'x'.repeat(10 * 1024 * 1024 + 1) })
  s.write({ 'b.txt': 'b\n' })
  const { code, stderr } = s.run(['save'])
  expect({ code, stderr: steady(stderr) }).toEqual({
    code: 0,
    stderr: '1 path could not be saved: 1 too large. See: savestate show <id>\n',
  })
  expect(s.run(['show', '1']).stdout).toMatch(
    /1 larger than the size limit\n {4}big\.bin {2}10\.5 MB/,
  )
})

test('more files than the limit are refused with the setting that raises it', () => {
  using s = scratch({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  s.run(['config', 'set', '--project', 'maxFiles', '2'])
  expect(s.run(['save'])).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'Error: The project has more than 2 files to capture.\n' +
      'Leave folders out with a .savestateignore file, or raise the setting maxFiles (see: savestate config).\n',
  })
  // The folder has no checkpoint, so it is no project of the store.
  expect(s.json(['status'])).toMatchObject({ projects: [] })
  expect(s.run(['status']).stdout).toContain('Checkpoints:  0 of 0 projects\n')
})

test('list shows number, id, reason, figures and age; --limit says how many more there are', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  expect(s.run(['list']).stdout).toBe(
    'Nothing has been saved here yet. Save this folder with: savestate save\n',
  )
  for (const args of [
    ['show', '1'],
    ['diff', '1'],
    ['rewind', '1'],
    ['pin', '1'],
    ['fork', '1'],
  ])
    expect(s.run(args).stderr).toBe(
      'Error: Nothing has been saved in this folder yet.\nSave it with: savestate save\n',
    )
  s.run(['save', '-m', 'the first\nof two'])
  s.write({ 'a.txt': 'two\n' })
  s.run(['save', '--name', 'works'])
  s.run(['pin', 'works'])
  expect(steady(s.run(['list']).stdout).split('\n')).toEqual([
    '1  <id>  [pinned] [works]   +1 −1 · just now',
    '2  <id>  the first of two   +1 · just now',
    '',
  ])
  const limited = s.run(['list', '--limit', '1'])
  expect(limited.stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(limited.stderr).toBe('1 more: savestate list -n 2\n')
  expect(s.run(['list', '-n', '1'])).toEqual(limited)
  expect(s.json(['list', '-n', '1'])).toMatchObject({ checkpoints: [{ name: 'works', number: 1 }] })
  expect(s.json(['list'])).toMatchObject({
    checkpoints: [
      { name: 'works', pinned: true },
      { name: null, reason: 'the first\nof two' },
    ],
  })
})

test('list --all shows the checkpoints of all projects with their folders', () => {
  using s = scratch({ 'one/package.json': '{}', 'two/package.json': '{}' })
  for (const name of ['one', 'two']) s.run(['-C', join(s.project, name), 'save', '-m', name])
  const { stdout } = s.run(['list', '--all'])
  const folder = (name: string) => `…${join(s.project, name).slice(-29)}`
  expect(stdout.split('\n').map((line) => line.trim().split(/ {2,}/).slice(1))).toEqual([
    ['two', expect.stringContaining(`+1 · ${folder('two')} · `)],
    ['one', expect.stringContaining(`+1 · ${folder('one')} · `)],
    [],
  ])
})

test('show prints everything, and its git command restores the files', () => {
  using s = scratch({ 'a.txt': 'one\n', 'src/b.txt': 'two\n', '.env': 'TOKEN=1' })
  s.shell('git init -q . && git checkout -q -b topic')
  s.run(['save'])
  s.write({ 'a.txt': 'more\nlines\n' })
  mkdirSync(join(s.project, 'empty'))
  chmodSync(join(s.project, 'src/b.txt'), 0o600)
  s.run(['save', '-m', 'first line\nsecond line', '--name', 'works'])
  const { stdout } = s.run(['show', 'works'])
  expect(steady(stdout).split('\n').slice(0, 18)).toEqual([
    'Checkpoint  <id>',
    'Name:       works',
    'Created:    <time> (just now), save',
    'Message:    first line',
    '            second line',
    'Contains:   2 files, 15 bytes',
    'Repository: . on topic without a commit',
    'Changed:    2 files +2 −1 since the one before',
    'By:         you',
    '  modified a.txt  +2 −1',
    '  added    empty/',
    '  mode     src/b.txt  mode 0644 → 0600',
    'Skipped:    2 paths',
    '  1 a secret, by its name or its content',
    '    .env',
    '  1 a version control folder',
    '    .git',
    '',
  ])
  const back = stdout.trim().split('\n').at(-1)?.replace('FOLDER', '../back') ?? ''
  expect(s.shell(`mkdir ../back && ${back} && cat ../back/a.txt`).stdout).toBe('more\nlines\n')
  expect(s.json(['show', 'works'])).toMatchObject({ name: 'works', fileCount: 2, skipped: 2 })
})

test('diff reports an unknown path as rewind does', () => {
  using s = scratch({ 'a.txt': 'one\n', 'gone.txt': 'one\n' })
  s.run(['save'])
  s.write({ 'a.txt': 'two\n', '.gitignore': 'junk\n', junk: 'x' })
  rmSync(join(s.project, 'gone.txt'))
  s.run(['save'])
  const there = ['a.txt', 'gone.txt', 'junk', '.']
  for (const path of there) expect(s.run(['diff', '2', '--', path])).toMatchObject({ code: 0 })
  for (const path of there) expect(s.run(['diff', '2', '1', '--', path])).toMatchObject({ code: 0 })
  const told = (checkpoints: string) => ({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(`Neither the folder nor ${checkpoints} has typo.txt`),
  })
  const one = told('the checkpoint')
  expect(s.run(['diff', '2', '--', 'a.txt', 'typo.txt'])).toEqual(one)
  expect(s.run(['diff', '2', '--stat', '--', 'typo.txt'])).toEqual(one)
  expect(s.run(['rewind', '2', '--path', 'typo.txt', '--dry-run'])).toEqual(one)
  expect(s.run(['diff', '2', '1', '--', 'typo.txt'])).toEqual(told('any of the checkpoints'))
})

test('diff shows the patch, and changes that git cannot express', () => {
  using s = scratch({ 'a.txt': 'one\n', 'src/b.txt': 'two\n', 'c.txt': 'c\n' })
  s.run(['save'])
  expect(s.run(['diff', '1'])).toEqual(said('No differences.'))
  s.write({ 'a.txt': 'changed\n', 'src/b.txt': 'changed\n' })
  mkdirSync(join(s.project, 'empty'))
  chmodSync(join(s.project, 'c.txt'), 0o600)
  const { code, stdout, stderr } = s.run(['diff', '1'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout.split('\n').filter((line) => !line.startsWith('index '))).toEqual([
    'mode 0644 → 0600: c.txt',
    'folder added: empty/',
    'diff --git a/a.txt b/a.txt',
    '--- a/a.txt',
    '+++ b/a.txt',
    '@@ -1 +1 @@',
    '-one',
    '+changed',
    'diff --git a/src/b.txt b/src/b.txt',
    '--- a/src/b.txt',
    '+++ b/src/b.txt',
    '@@ -1 +1 @@',
    '-two',
    '+changed',
    '',
  ])
  expect(s.run(['diff', '1', '--stat', '--', 'a.txt']).stdout).toBe(
    ' a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n',
  )
  s.run(['save'])
  expect(s.json(['diff', '2', '1', '--', 'src'])).toMatchObject({
    files: 1,
    changes: [{ path: 'src/b.txt', change: 'modified' }],
  })
})

test('paths are relative to the current folder', () => {
  using s = scratch({ 'package.json': '{}', 'src/a.txt': 'one\n', 'a.txt': 'top\n' })
  s.run(['save'])
  s.write({ 'src/a.txt': 'two\n', 'a.txt': 'changed\n' })
  const here = { cwd: join(s.project, 'src') }
  const stat = (args: readonly string[]) => s.run(['diff', '1', '--stat', ...args], here).stdout
  expect(stat(['--', 'a.txt'])).toContain(' src/a.txt |')
  expect(stat(['--', '../a.txt'])).toMatch(/^ a\.txt \|/)
  expect(stat(['--', join(s.project, 'a.txt')])).toMatch(/^ a\.txt \|/)
  expect(stat(['-C', s.project, '--', 'a.txt'])).toMatch(/^ a\.txt \|/)
  expect(s.run(['diff', '1', '--', '../../x'], here)).toMatchObject({ code: 2, stdout: '' })
  expect(s.run(['rewind', '1', '--path', 'a.txt', '--yes'], here).stdout).toContain(
    '1 file written',
  )
  expect(readFileSync(join(s.project, 'src/a.txt'), 'utf8')).toBe('one\n')
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('changed\n')
})

test('rewind, undo and redo report what they did and how to revert it', () => {
  using s = scratch({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' })
  s.run(['save', '-m', 'good'])
  expect(steady(s.run(['rewind', '1', '--yes']).stdout)).toBe(
    'Nothing to do: the folder is as it was at <id> (just now, "good").\n',
  )
  s.write({ 'a.txt': 'bad\n', 'new.txt': 'new\n' })
  rmSync(join(s.project, 'src'), { recursive: true })
  const plan = [
    'Would go back to 1 · <id> · just now · "good":',
    'Will be written (2 files):',
    '  ~ a.txt  (content differs)',
    '  + src/b.txt  (file is missing)',
    'Will be removed (1 file):',
    '  - new.txt  (file created later)',
    'A dry run: nothing has been changed.',
  ]
  const dry = s.run(['rewind', '1', '--dry-run'])
  expect({ ...dry, stdout: steady(dry.stdout) }).toEqual(said(plan.join('\n')))
  expect(existsSync(join(s.project, 'new.txt'))).toBe(true)
  const rewound = s.run(['rewind', '1', '-y'])
  expect({ ...rewound, stdout: steady(rewound.stdout) }).toEqual(
    said(
      'Rewound to <id> (just now, "good"): 2 files written, 1 removed. Undo with: savestate undo',
    ),
  )
  expect(readFileSync(join(s.project, 'src/b.txt'), 'utf8')).toBe('two\n')
  const undone = s.run(['undo', '--yes'])
  expect({ ...undone, stdout: steady(undone.stdout) }).toEqual(
    said(
      'Undid the rewind to <id> ("good"): 2 files written, 1 removed. Redo with: savestate redo',
    ),
  )
  expect(s.json(['redo', '--yes'])).toMatchObject({ applied: true, declined: false })
  expect(s.run(['redo', '--yes'])).toMatchObject({ code: 2 })
  expect(s.json(['undo', '--dry-run'])).toMatchObject({ applied: false, plan: { conflict: [] } })
})

test('a rewind that meets something uncaptured shows it in a dry run, and stops', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  rmSync(join(s.project, 'a.txt'))
  s.write({ '.gitignore': 'a.txt/\n', 'a.txt/inside': 'ignored\n' })
  const dry = s.run(['rewind', '1', '--dry-run'])
  expect(dry.code).toBe(0)
  expect(dry.stdout).toContain(
    'In the way, so nothing will be done (1):\n  a.txt/inside  (not captured',
  )
  expect(s.run(['rewind', '1', '--yes'])).toMatchObject({ code: 2, stdout: '' })
  expect(readFileSync(join(s.project, 'a.txt/inside'), 'utf8')).toBe('ignored\n')
})

test('a number means the same checkpoint before and after the rewind it starts', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save', '--name', 'first'])
  s.write({ 'a.txt': 'two\n' })
  const [, short] = /^Saved (\w+):/.exec(s.run(['save']).stdout) ?? []
  s.write({ 'a.txt': 'three\n' })
  expect(s.run(['rewind', '1', '--yes']).stdout).toContain(`Rewound to ${short}`)
})

test('pin, unpin and name report what they did', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  expect(steady(s.run(['pin', '1']).stdout)).toBe(
    'Pinned <id>: it is kept regardless of the limits.\n',
  )
  expect(steady(s.run(['unpin', '1']).stdout)).toBe(
    'Unpinned <id>: the limits apply to it again.\n',
  )
  expect(steady(s.run(['name', '1', 'before lunch']).stdout)).toBe(
    '<id> is now named before lunch.\n',
  )
  expect(s.json(['pin', 'before lunch'])).toMatchObject({ name: 'before lunch', pinned: true })
})

test('status shows the store and its projects', () => {
  using s = scratch({ 'one/package.json': '{}', 'two/package.json': '{}' })
  for (const name of ['one', 'two']) s.run(['-C', join(s.project, name), 'save'])
  rmSync(join(s.project, 'one'), { recursive: true })
  const { stdout } = s.run(['status'])
  expect(stdout).toContain(`Store:        ${s.home}, `)
  expect(stdout).toContain('Checkpoints:  2 of 2 projects\n')
  expect(steady(stdout)).toMatch(/two +[\d.]+ KB +1 checkpoint +just now\n/)
  expect(steady(stdout)).toMatch(/one +[\d.]+ KB +1 checkpoint +just now +the folder is gone\n/)
  expect(s.run(['status', '--limit', '1']).stdout).toContain('… and 1 more')
  expect(s.json(['status', '--limit', '1'])).toMatchObject({ projects: [{}, {}], sessions: [] })
  // The note about projects that are not shown comes below the shown ones.
  s.run(['-C', join(s.project, 'two'), 'config', 'set', '--project', 'maxFiles', '1'])
  expect(s.run(['-C', join(s.project, 'two'), 'save']).code).toBe(2)
  expect(steady(s.run(['status', '--limit', '1']).stdout)).toMatch(
    /just now\n… and 1 more \(--limit 2 shows all\)\n1 failure in the last 24 h/,
  )
})

test('verify reports an intact store, and fails for a damaged one', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  expect(s.run(['verify'])).toEqual(said('1 checkpoint checked: the store is intact.'))
  expect(s.json(['verify'])).toEqual({ checkpoints: 1, problems: [], quick: false })
  rmSync(join(s.home, 'objects.git/refs'), { recursive: true })
  const damaged = s.run(['verify'])
  expect(damaged.code).toBe(2)
  expect(damaged.stdout).toMatch(/^1 checkpoint checked: 1 problem\.\n {2}repository: /)
  expect(damaged.stderr).toBe('To repair it: savestate repair\n')
  expect(s.run(['verify', '--quick']).code).toBe(2)
})

test('repair asks first, repairs what it can, and reports it', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  expect(s.run(['repair'])).toEqual(said('There is nothing to repair.'))
  rmSync(join(s.home, 'objects.git/refs'), { recursive: true })
  expect(s.run(['repair'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no terminal to ask on'),
  })
  expect(s.run(['repair', '--dry-run']).stdout).toMatch(
    /^It would do this first:\n {2}recreate it /,
  )
  const done = s.run(['repair', '--yes'])
  expect(done.code).toBe(0)
  expect(steady(done.stdout)).toMatch(/^2 steps done:\n/)
  expect(s.run(['verify'])).toEqual(said('1 checkpoint checked: the store is intact.'))
})

test('doctor prints a page without a path, a name or a reason', () => {
  using s = scratch({ 'secret-name.txt': 'secret content\n' })
  s.run(['save', '-m', 'secret reason', '--name', 'secret-label'])
  const { code, stdout } = s.run(['doctor'])
  expect(code).toBe(0)
  expect(stdout).toContain('Contains:  1 project, 0 sessions, 1 checkpoint\n')
  expect(stdout).toContain('Verify:    nothing found (quick)\n')
  expect(stdout).not.toMatch(/secret|project\//)
  expect(stdout).not.toContain(s.project)
  expect(JSON.stringify(s.json(['doctor']))).not.toMatch(/secret/)
  expect(s.run(['doctor', '--paths']).stdout).toContain(`Project:   ${s.project}`)
})

test('doctor lists the agents with hooks, and unreadable configurations', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  expect(s.run(['doctor']).stdout).toContain('Hooks:     none\n')
  expect(s.run(['install', 'claude', '-y']).code).toBe(0)
  expect(s.run(['install', 'codex', '--project', '-y']).code).toBe(0)
  expect(s.run(['doctor']).stdout).toContain(
    'Hooks:     Claude Code (user), Codex (project, not trusted yet: savestate install codex --project --trust)\n',
  )
  expect(s.run(['install', 'codex', '--project', '--trust', '-y']).code).toBe(0)
  expect(s.run(['doctor']).stdout).toContain('Hooks:     Claude Code (user), Codex (project)\n')
  s.write({ '.gemini/settings.json': '{ no JSON' })
  expect(s.json(['doctor'])).toMatchObject({
    hooks: [
      { agent: 'claude', scope: 'user', found: 'installed' },
      { agent: 'codex', scope: 'project', found: 'installed', trusted: true },
      { agent: 'gemini', scope: 'project', found: 'unreadable' },
    ],
  })
  rmSync(join(s.project, '.gemini/settings.json'))
  mkdirSync(join(s.project, '.gemini/settings.json'))
  const elsewhere = s.run(['doctor', '-C', s.project], { cwd: '/' })
  expect(elsewhere.stdout).toContain('Codex (project), Gemini CLI (project: cannot be read)\n')
})

test('status lists failures, and recording one does not hide the error', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  const blob = join(s.home, 'objects.git/objects')
  rmSync(blob, { recursive: true })
  s.write({ 'a.txt': 'two\n' })
  const failed = s.run(['diff', '1'])
  expect(failed.code).toBe(2)
  expect(s.run(['list', '--limit', 'x']).code).toBe(2)
  expect(s.json(['status'])).toMatchObject({ failures: [{ operation: 'diff' }] })
  expect(steady(s.run(['status']).stdout)).toMatch(
    /1 failure in the last 24 h, the newest just now: diff: /,
  )
})

test('the program saves a folder that is hashed on several threads', () => {
  // More than MANY_FILES of hasher.ts.
  const many = Array.from({ length: 700 }, (_, number) => [`${number}.txt`, `${number}\n`] as const)
  using s = scratch(Object.fromEntries(many))
  expect(s.json(['save'])).toMatchObject({ created: true, files: 700 })
})
