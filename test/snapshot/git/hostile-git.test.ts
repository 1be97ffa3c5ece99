// Our git ignores the environment, the user's configuration and the project's: it starts none of their
// programs, and every byte is restored.
/* oxlint-disable vitest/expect-expect -- playThrough does */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { DiffResult, RewindResult, SaveResult, VerifyResult } from '../../../src/index.js'
import { type FileSpec, hashTree, type Scratch, scratch } from '../../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../../support/crash-child.mjs')

/** Contents that git could change: line ends, keywords, pointers, encodings. */
const FILES: Readonly<Record<string, FileSpec>> = {
  'unix.txt': 'one\ntwo\n',
  'dos.txt': 'one\r\ntwo\r\n',
  'mixed.txt': 'one\r\ntwo\nthree\r',
  'keyword.c': '/* $Id$ $Id: 0123 $ $Format:%H$ */\n',
  'lfs.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n',
  'real.bin': Buffer.from([0, 1, 2, 13, 10, 255]),
  'utf16.txt': Buffer.from('\ufeffwide\r\n', 'utf16le'),
  'space.txt': 'trailing blanks   \n\n\n',
  'no-newline.txt': 'no newline at the end',
  'sub/unix.txt': 'one\ntwo\n',
  'doc.md': 'text\n',
}

const ATTRIBUTES = [
  '* text eol=crlf ident',
  '*.bin filter=lfs diff=lfs merge=lfs -text',
  '*.txt filter=evil diff=evil working-tree-encoding=UTF-16',
  '*.md -diff export-ignore',
  '*.c export-subst diff=evil',
  '',
].join('\n')

/** A program that leaves a mark when it is started. */
function trap(s: Scratch): { readonly program: string; readonly marks: string } {
  const marks = join(s.folder, 'marks')
  mkdirSync(marks, { recursive: true })
  const program = join(s.folder, 'trap.sh')
  writeFileSync(program, `#!/bin/sh\ntouch "${marks}/$$-$(basename "$0")"\ncat\n`)
  chmodSync(program, 0o755)
  return { program, marks }
}

/** Every setting that makes git run something or change bytes. */
function hostileConfig(program: string, folder: string): string {
  return `
[core]
	fsmonitor = ${program}
	hooksPath = ${folder}/hooks
	autocrlf = true
	eol = crlf
	safecrlf = true
	attributesFile = ${folder}/attributes
	excludesFile = ${folder}/excludes
	pager = ${program}
	sshCommand = ${program}
	gitProxy = ${program}
	askPass = ${program}
	editor = ${program}
	worktree = ${folder}/worktree
	compression = 0
	precomposeUnicode = true
	ignoreCase = true
	quotePath = true
	abbrev = 4
[init]
	templateDir = ${folder}/template
	defaultObjectFormat = sha256
[commit]
	gpgSign = true
[tag]
	gpgSign = true
[gpg]
	program = ${program}
[filter "lfs"]
	clean = ${program}
	smudge = ${program}
	process = ${program}
	required = true
[filter "evil"]
	clean = ${program}
	smudge = ${program}
	required = true
[diff]
	external = ${program}
	noprefix = true
	renames = copies
	algorithm = patience
	context = 0
	orderFile = ${folder}/order
[diff "evil"]
	command = ${program}
	textconv = ${program}
[diff "lfs"]
	textconv = ${program}
[color]
	ui = always
[alias]
	diff = !${program}
	diff-tree = !${program}
	cat-file = !${program}
	fsck = !${program}
[pager]
	diff = ${program}
[credential]
	helper = ${program}
[url "ext::${program}"]
	insteadOf = file
[trace2]
	eventTarget = ${folder}/trace2
[include]
	path = ${folder}/more
`
}

/** Global configuration, templates and hooks of a hostile user. */
function hostileHome(s: Scratch, program: string): string {
  const folder = join(s.folder, 'hostile')
  const hooks = ['pre-commit', 'post-commit', 'reference-transaction', 'post-index-change']
  const hookFiles = (where: string) =>
    hooks.map((name) => [`${where}/${name}`, { content: `#!/bin/sh\n${program}\n`, mode: 0o755 }])
  s.write(
    {
      '.gitconfig': hostileConfig(program, folder),
      '.config/git/config': hostileConfig(program, folder),
      '.config/git/attributes': ATTRIBUTES,
      '.config/git/ignore': '*\n',
      attributes: ATTRIBUTES,
      excludes: '*\n',
      order: 'z*\n',
      more: hostileConfig(program, folder).replace(/\[include\][^]*$/, ''),
      'template/config': hostileConfig(program, folder),
      'template/info/attributes': ATTRIBUTES,
      ...(Object.fromEntries([...hookFiles('hooks'), ...hookFiles('template/hooks')]) as Record<
        string,
        FileSpec
      >),
    },
    folder,
  )
  return folder
}

function hostileEnvironment(s: Scratch, program: string): Record<string, string> {
  const home = hostileHome(s, program)
  const away = (name: string) => join(s.folder, 'elsewhere', name)
  const injected: readonly (readonly [string, string])[] = [
    ['core.fsmonitor', program],
    ['core.hooksPath', join(home, 'hooks')],
    ['core.autocrlf', 'true'],
    ['diff.external', program],
    ['alias.diff', `!${program}`],
    ['core.attributesFile', join(home, 'attributes')],
    ['commit.gpgSign', 'true'],
  ]
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_CONFIG_SYSTEM: join(home, '.gitconfig'),
    GIT_CONFIG: join(home, '.gitconfig'),
    GIT_CONFIG_COUNT: String(injected.length),
    ...Object.fromEntries(
      injected.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${program}' 'diff.external'='${program}'`,
    GIT_DIR: join(s.folder, 'victim/.git'),
    GIT_WORK_TREE: join(s.folder, 'victim'),
    GIT_COMMON_DIR: join(s.folder, 'victim/.git'),
    GIT_INDEX_FILE: away('index'),
    GIT_OBJECT_DIRECTORY: away('objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: away('alternates'),
    GIT_NAMESPACE: 'elsewhere',
    GIT_REF_PARANOIA: '0',
    GIT_TEMPLATE_DIR: join(home, 'template'),
    GIT_EXTERNAL_DIFF: program,
    GIT_DIFF_OPTS: '--unified=0',
    GIT_PAGER: program,
    PAGER: program,
    GIT_EDITOR: program,
    GIT_ASKPASS: program,
    GIT_SSH_COMMAND: program,
    GIT_PROXY_COMMAND: program,
    GIT_EXEC_PATH: join(home, 'hooks'),
    GIT_TRACE: away('trace'),
    GIT_TRACE2_EVENT: away('trace2'),
    GIT_TRACE_SETUP: away('trace-setup'),
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ICASE_PATHSPECS: '1',
    GIT_DEFAULT_HASH: 'sha256',
    GIT_ATTR_SOURCE: 'HEAD',
    GIT_QUARANTINE_PATH: away('quarantine'),
    GIT_CEILING_DIRECTORIES: s.folder,
    GIT_DISCOVERY_ACROSS_FILESYSTEM: '1',
    LANG: 'de_DE.UTF-8',
    LANGUAGE: 'de',
  }
}

function run<T>(s: Scratch, environment: Readonly<Record<string, string>>, steps: unknown): T {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env
  const request = JSON.stringify({ home: s.home, project: s.project, run: steps })
  const { status, stdout, stderr } = spawnSync(process.execPath, [CHILD, request], {
    env: { ...inherited, ...environment },
    encoding: 'utf8',
  })
  expect({ status, stderr, error: stdout.includes('"error"') ? stdout : '' }).toEqual({
    status: 0,
    stderr: '',
    error: '',
  })
  return (JSON.parse(stdout) as { results: T }).results
}

function expectNoMark({ marks }: { readonly marks: string }, s: Scratch): void {
  expect([...s.snapshotOf(marks).keys()]).toEqual([''])
  expect(existsSync(join(s.folder, 'elsewhere'))).toBe(false)
  expect(existsSync(join(s.folder, 'hostile/trace2'))).toBe(false)
}

/** Saves, breaks everything, shows, rewinds and undoes, all in the hostile environment. */
function playThrough(s: Scratch, environment: Readonly<Record<string, string>>): void {
  const first = s.snapshotOf()
  const [saved] = run<[SaveResult]>(s, environment, [['save', { reason: 'first' }]])
  s.write({
    'unix.txt': 'one\r\ntwo\r\n',
    'dos.txt': 'one\ntwo\n',
    'real.bin': Buffer.from([13, 10, 0]),
    'keyword.c': '/* $Id: 4567 $ */\n',
    'doc.md': 'other text\n',
    'lfs.bin': null,
    'made.txt': 'made\r\nlater\n',
    sub: null,
  })
  const second = s.snapshotOf()
  const [diff, rewound, verified] = run<[DiffResult, RewindResult, VerifyResult]>(s, environment, [
    ['diff', { to: saved.id }],
    ['rewind', { to: saved.id }],
    ['verify'],
  ])
  expect(diff.changes.map(({ path, change }) => `${change} ${path}`)).toEqual([
    'modified doc.md',
    'modified dos.txt',
    'modified keyword.c',
    'removed lfs.bin',
    'added made.txt',
    'modified real.bin',
    'removed sub',
    'removed sub/unix.txt',
    'modified unix.txt',
  ])
  expect(diff.patch).toContain('\n-text\n+other text\n')
  expect(diff.patch).toContain('\n-one\r\n-two\r\n+one\n+two\n')
  expect(diff.patch).toContain('diff --git a/doc.md b/doc.md\n')
  expect(rewound).toMatchObject({ applied: true })
  expect(verified.problems).toEqual([])
  expect(s.snapshotOf()).toEqual(first)
  run(s, environment, [['undo', {}]])
  expect(s.snapshotOf()).toEqual(second)
  run(s, environment, [
    ['redo', {}],
    ['show', { to: '1' }],
  ])
  expect(s.snapshotOf()).toEqual(first)
}

test('the trap works: ordinary git does start the program in this environment', async () => {
  await using s = await scratch({ files: { 'x.txt': 'x\n' } })
  const { program, marks } = trap(s)
  s.git(['init', '-q'])
  s.git(['add', '-A'])
  s.git(['commit', '-qm', 'x'])
  s.write({ 'x.txt': 'y\n' })
  const { PATH = '' } = process.env
  const {
    GIT_EXEC_PATH: _,
    GIT_DIR: _dir,
    GIT_COMMON_DIR: _common,
    GIT_WORK_TREE: _tree,
    GIT_INDEX_FILE: _index,
    GIT_OBJECT_DIRECTORY: _objects,
    GIT_CONFIG: _config,
    ...hostile
  } = hostileEnvironment(s, program)
  spawnSync('git', ['diff'], { cwd: s.project, env: { PATH, ...hostile } })
  expect(s.snapshotOf(marks).size).toBeGreaterThan(1)
})

test('hostile GIT_* variables and a hostile global configuration change nothing', async () => {
  await using s = await scratch({ files: FILES })
  const trapped = trap(s)
  s.write({ 'x.txt': 'x\n' }, join(s.folder, 'victim'))
  s.git(['init', '-q', join(s.folder, 'victim')])
  s.git(['add', '-A'], { cwd: join(s.folder, 'victim') })
  s.git(['commit', '-qm', 'x'], { cwd: join(s.folder, 'victim') })
  const victim = hashTree(join(s.folder, 'victim'))
  playThrough(s, hostileEnvironment(s, trapped.program))
  expect(hashTree(join(s.folder, 'victim'))).toEqual(victim)
  expectNoMark(trapped, s)
})

test("the project's own attributes change no byte and start no program", async () => {
  await using s = await scratch({ files: { ...FILES, '.gitattributes': ATTRIBUTES } })
  const trapped = trap(s)
  s.write({ 'binary/.gitattributes': '* -text binary\n', 'binary/x.txt': 'x\r\n' })
  playThrough(s, hostileEnvironment(s, trapped.program))
  expectNoMark(trapped, s)
})

test("the project's own repository with a hostile configuration and hooks starts no program", async () => {
  await using s = await scratch({ files: { ...FILES, '.gitattributes': ATTRIBUTES } })
  const trapped = trap(s)
  s.git(['init', '-q'])
  s.git(['-c', 'core.attributesFile=/dev/null', 'add', '-N', 'doc.md'])
  const hook = { content: `#!/bin/sh\n${trapped.program}\n`, mode: 0o755 }
  s.write(
    {
      config: `[core]\n\tbare = false${hostileConfig(trapped.program, join(s.folder, 'hostile'))
        .replace('[core]', '')
        .replace(/\tworktree = .*\n/, '')}`,
      'info/attributes': ATTRIBUTES,
      'hooks/post-index-change': hook,
      'hooks/reference-transaction': hook,
      'hooks/pre-commit': hook,
      'hooks/fsmonitor-watchman': hook,
    },
    join(s.project, '.git'),
  )
  const before = hashTree(join(s.project, '.git'))
  playThrough(s, {})
  expect(hashTree(join(s.project, '.git'))).toEqual(before)
  expectNoMark(trapped, s)
})

test('an index that only git can read is read without its hooks and monitors', async () => {
  await using s = await scratch({ files: { 'a.txt': 'a\n', 'build/tracked.txt': 'tracked\n' } })
  const trapped = trap(s)
  s.git(['init', '-q'])
  s.git(['add', '-A', '-f'])
  s.git(['update-index', '--split-index'])
  s.write({ 'b.txt': 'b\n' })
  s.git(['add', 'b.txt'])
  const hook = { content: `#!/bin/sh\n${trapped.program}\n`, mode: 0o755 }
  const config = readFileSync(join(s.project, '.git/config'), 'utf8')
  s.write(
    {
      config: `${config}[core]\n\tfsmonitor = ${trapped.program}\n\tpager = ${trapped.program}\n[alias]\n\tls-files = !${trapped.program}\n`,
      'hooks/post-index-change': hook,
      'hooks/fsmonitor-watchman': hook,
    },
    join(s.project, '.git'),
  )
  const before = hashTree(join(s.project, '.git'))
  const environment = hostileEnvironment(s, trapped.program)
  const [saved] = run<[SaveResult]>(s, environment, [['save', {}]])
  s.write({ 'build/tracked.txt': 'broken\n' })
  run(s, environment, [['rewind', { to: saved.id }]])
  // Ignored by default, but tracked: captured.
  expect(readFileSync(join(s.project, 'build/tracked.txt'), 'utf8')).toBe('tracked\n')
  expect(hashTree(join(s.project, '.git'))).toEqual(before)
  expectNoMark(trapped, s)
})
