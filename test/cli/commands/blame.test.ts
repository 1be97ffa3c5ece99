// `savestate blame` and `savestate log`: a file that a user, an agent and the user's own commits have written.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claudePrompt, claudeShell, rowOf } from '../../support/agent-story.js'
import { type Scratch, scratch } from '../program.js'

/** Every entry with its times and its content. */
function stampsBelow(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stats = statSync(join(folder, name))
      const content = stats.isFile() ? readFileSync(join(folder, name), 'latin1') : ''
      return [name, stats.mtimeMs, stats.ctimeMs, content]
    })
}

type Line = {
  readonly number: number
  readonly text: string
  readonly source: string
  readonly checkpoint: string | null
  readonly author: string | null
  readonly prompt: string | null
  readonly tool: string | null
  readonly commit: string | null
  readonly createdAt: string | null
}

const GIT = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_DATE: '2001-02-03T04:05:06Z',
  GIT_COMMITTER_DATE: '2001-02-03T04:05:06Z',
}

function git(folder: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=Ada Lovelace', '-c', 'user.email=ada@example.com']
  return execFileSync('git', [...who, ...args], { cwd: folder, env: GIT, stdio: 'pipe' })
    .toString('utf8')
    .trim()
}

function linesOf(s: Scratch, ...args: readonly string[]): readonly Line[] {
  return (s.json(['blame', ...args]) as { readonly lines: readonly Line[] }).lines
}

function originsOf(s: Scratch, ...args: readonly string[]) {
  return linesOf(s, ...args).map(({ text, source, author }) => [text, source, author])
}

test('each line has the author, prompt, tool call and checkpoint that wrote it', () => {
  using s = scratch({ 'poem.txt': 'old\nlast\n' })
  s.run(['save', '-m', 'start'])
  claudePrompt(s, 'Write a verse')
  claudeShell(s, 'printf "old\\nverse\\nlast\\n" > poem.txt')
  claudePrompt(s, 'Rename it')
  claudeShell(s, 'mv poem.txt song.txt')
  s.write({ 'song.txt': 'old\nverse\nlast\nmine\n' })
  const written = rowOf(s, 'Bash: printf "old\\nverse\\nlast\\n" > poem.txt')
  const { createdAt } = s.json(['show', written.id]) as { readonly createdAt: string }
  const nothing = { checkpoint: null, prompt: null, tool: null, commit: null, createdAt: null }
  const older = { ...nothing, source: 'older', author: null }
  const lines: readonly Line[] = [
    { ...older, number: 1, text: 'old' },
    {
      number: 2,
      text: 'verse',
      source: 'checkpoint',
      checkpoint: written.id,
      author: 'claude',
      prompt: 'Write a verse',
      tool: 'Bash: printf "old\\nverse\\nlast\\n" > poem.txt',
      commit: null,
      createdAt,
    },
    { ...older, number: 3, text: 'last' },
    { ...nothing, number: 4, text: 'mine', source: 'folder', author: 'you' },
  ]
  expect(s.json(['blame', 'song.txt'])).toEqual({ path: 'song.txt', lines })
  for (const range of ['2,3', '2,+2', '3,-2', '3,2'])
    expect(linesOf(s, 'song.txt', '-L', range)).toEqual(lines.slice(1, 3))
  expect(linesOf(s, 'song.txt', '-L', '4')).toEqual(lines.slice(3))
  expect(linesOf(s, 'song.txt', '-L', ',1')).toEqual(lines.slice(0, 1))
  const shown = s.run(['blame', 'song.txt']).stdout.split('\n')
  expect(shown.map((line) => line.replace(/ {2,}/g, ' | '))).toEqual([
    'older | 1 | old',
    expect.stringMatching(
      /^[a-z]{4,} \| claude \| .* \| Write a verse \| Bash: printf "old\\nvers… \| 2 \| verse$/,
    ),
    'older | 3 | last',
    'now | you | 4 | mine',
    '',
  ])
})

test('a rewind changes no owner, and neither does its undo', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  claudePrompt(s, 'Add two')
  claudeShell(s, 'echo two >> a.txt')
  const before = linesOf(s, 'a.txt')
  claudePrompt(s, 'Empty it')
  claudeShell(s, 'echo changed > a.txt')
  const id = rowOf(s, 'Bash: echo two >> a.txt').id
  expect(s.run(['rewind', id, '-y']).code).toBe(0)
  expect(linesOf(s, 'a.txt')).toEqual(before)
  expect(s.run(['undo', '-y']).code).toBe(0)
  expect(originsOf(s, 'a.txt')).toEqual([['changed', 'checkpoint', 'claude']])
})

test('older lines show the commit of the user, and nothing is written to .git', () => {
  using s = scratch({ 'src/a.txt': 'first\nsecond\n' })
  git(s.project, 'init', '-q')
  git(s.project, 'add', '-A')
  git(s.project, 'commit', '-qm', 'one')
  const commit = git(s.project, 'rev-parse', 'HEAD')
  s.write({ 'src/a.txt': 'first\nnot committed\nsecond\n' })
  s.run(['save'])
  s.write({ 'src/a.txt': 'first\nnot committed\nsecond\nthird\n' })
  const committed = ['commit', 'Ada Lovelace']
  const before = stampsBelow(join(s.project, '.git'))
  expect(originsOf(s, 'src/a.txt')).toEqual([
    ['first', ...committed],
    ['not committed', 'older', null],
    ['second', ...committed],
    ['third', 'folder', 'you'],
  ])
  expect(linesOf(s, 'src/a.txt', '-L', '1,1')).toMatchObject([
    { commit, createdAt: '2001-02-03T04:05:06.000Z' },
  ])
  expect(stampsBelow(join(s.project, '.git'))).toEqual(before)
  // Later commits say nothing about the first checkpoint.
  git(s.project, 'commit', '-qam', 'two')
  expect(originsOf(s, 'src/a.txt', '-L', '2,2')).toEqual([['not committed', 'older', null]])
  rmSync(join(s.project, '.git'), { recursive: true })
  expect(originsOf(s, 'src/a.txt', '-L', '1,1')).toEqual([['first', 'older', null]])
})

test('a project below the top of its repository, and a shallow clone, show commits', () => {
  using s = scratch({ 'readme.txt': 'x\n' })
  const [origin, clone] = [join(s.folder, 'origin'), join(s.folder, 'clone')]
  execFileSync('mkdir', ['-p', join(origin, 'app')])
  git(origin, 'init', '-q')
  for (const text of ['one\n', 'one\ntwo\n']) {
    execFileSync('sh', ['-c', `printf '${text.replaceAll('\n', '\\n')}' > app/a.txt`], {
      cwd: origin,
    })
    git(origin, 'add', '-A')
    git(origin, 'commit', '-qm', text.trim())
  }
  git(s.folder, 'clone', '-q', '--depth', '1', `file://${origin}`, clone)
  for (const folder of [origin, clone]) {
    const cwd = join(folder, 'app')
    expect(s.run(['-C', cwd, 'save']).code).toBe(0)
    const { lines } = JSON.parse(s.run(['-C', cwd, 'blame', 'a.txt', '--json']).stdout) as {
      readonly lines: readonly Line[]
    }
    expect(lines.map(({ text, source, author }) => [text, source, author])).toEqual([
      ['one', 'commit', 'Ada Lovelace'],
      ['two', 'commit', 'Ada Lovelace'],
    ])
  }
})

test('binary files, links, folders, unsaved and missing files are refused', () => {
  using s = scratch({ 'a.txt': 'one\n', 'empty.txt': '', '.env': 'KEY=1\n', 'src/x.txt': '' })
  writeFileSync(join(s.project, 'b.bin'), Buffer.from([1, 0, 2]))
  symlinkSync('a.txt', join(s.project, 'link'))
  const faultOf = (...args: readonly string[]) => {
    const { code, stderr } = s.run(['blame', ...args, '--json'])
    const { error } = JSON.parse(stderr) as { readonly error: { code: string; message: string } }
    return [code, error.code, error.message]
  }
  expect(faultOf('a.txt')).toEqual([
    2,
    'CHECKPOINT_UNKNOWN',
    'Nothing has been saved in this folder yet',
  ])
  s.run(['save'])
  s.write({ 'large.txt': `${'x'.repeat(99)}\n`.repeat(110_000) })
  expect([
    faultOf('b.bin'),
    faultOf('link'),
    faultOf('src'),
    faultOf('.env'),
    faultOf('large.txt'),
    faultOf('nowhere.txt'),
    faultOf('a.txt', '-L', '5,6'),
    faultOf('a.txt', '-L', '0'),
    faultOf('a.txt', '-L', '/x/'),
  ]).toEqual([
    [2, 'BAD_INPUT', 'b.bin is a binary file'],
    [2, 'BAD_INPUT', 'link is a symbolic link'],
    [2, 'BAD_INPUT', 'src is a folder'],
    [
      2,
      'CHECKPOINT_PARTIAL',
      'Nothing is known about the lines of .env, because it is not saved: a secret, by its name or its content',
    ],
    [
      2,
      'CHECKPOINT_PARTIAL',
      'Nothing is known about the lines of large.txt, because it is not saved: larger than the size limit',
    ],
    [2, 'BAD_INPUT', 'The folder has no nowhere.txt'],
    [2, 'BAD_INPUT', 'a.txt has only 1 line'],
    [2, 'BAD_INPUT', '-L takes lines such as 10,20 or 10,+5, not "0"'],
    [2, 'BAD_INPUT', '-L takes lines such as 10,20 or 10,+5, not "/x/"'],
  ])
  expect(s.json(['blame', 'empty.txt'])).toEqual({ path: 'empty.txt', lines: [] })
})

test('log lists the checkpoints that changed a path, and without one all', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save', '-m', 'first'])
  s.write({ 'b.txt': 'two\n' })
  s.run(['save', '-m', 'second'])
  const reasons = (...args: readonly string[]) => {
    const { checkpoints } = s.json(['log', ...args]) as {
      readonly checkpoints: readonly { readonly reason: string }[]
    }
    return checkpoints.map(({ reason }) => reason)
  }
  expect([
    reasons('a.txt'),
    reasons('--', 'b.txt'),
    reasons('a.txt', 'b.txt', '-n', '1'),
    reasons(),
  ]).toEqual([['first'], ['second'], ['second'], ['second', 'first']])
  expect(s.run(['log', 'b.txt'])).toEqual(s.run(['list', '--', 'b.txt']))
})
