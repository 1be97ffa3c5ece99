// `project.commits` with real git: the commits apply in a clone, and their trees are those of the checkpoints.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CommitsOptions } from '../../../src/index.js'
import { commitStory as story } from '../../support/history/commit-story.js'
import { scratch } from '../../support/scratch.js'

const AUTHOR = 'Ada <ada@example.com>'

test('each prompt is a commit, with trailers, dates and the identity of the user', async () => {
  await using s = await scratch()
  const it = await story(s, {
    config: [
      ['user.name', 'Grace Ö'],
      ['user.email', 'grace@example.com'],
    ],
  })
  const start = await it.project.save({ name: 'start' })
  const one = await it.prompt('Add b', { 'b.txt': 'b\n' })
  s.write({ 'own.txt': 'mine\n' })
  const two = await it.prompt('Change a', { 'a.txt': 'a2\n', 'b.txt': null })
  const { commits, base } = await it.project.commits('start..')
  const own = commits[1]?.checkpoint ?? ''
  expect(base).toBe(it.git('rev-parse', 'HEAD'))
  expect(commits).toEqual([
    { checkpoint: one.id, subject: 'Add b', files: 1 },
    { checkpoint: own, subject: 'Changes before the prompt: Change a', files: 1 },
    { checkpoint: two.id, subject: 'Change a', files: 2 },
  ])
  const { log, tree } = await it.take('start..')
  expect(log).toEqual([
    `Add b\n\nSavestate-Checkpoint: ${one.id}\nAssisted-by: claude`,
    `Changes before the prompt: Change a\n\nSavestate-Checkpoint: ${own}`,
    `Change a\n\nSavestate-Checkpoint: ${two.id}\nAssisted-by: claude`,
  ])
  expect(tree).toBe(it.treeNow())
  const clone = it.clone()
  const { content } = await it.project.commits('start..')
  s.git(['am', '-q'], { cwd: clone, input: Buffer.from(content) })
  const seconds = Math.floor(two.createdAt.getTime() / 1000)
  expect(s.git(['log', '-1', '--format=%an <%ae> %at'], { cwd: clone })).toBe(
    `Grace Ö <grace@example.com> ${seconds}`,
  )
  expect(start.name).toBe('start')
})

test('per step and per all', async () => {
  await using s = await scratch()
  const it = await story(s, {})
  await it.project.save({ name: 'start' })
  await it.prompt('One', { 'b.txt': '1\n' })
  const last = await it.prompt('Two', { 'b.txt': '2\n' })
  const subjects = async (per: 'step' | 'all') =>
    (await it.project.commits('start..1', { per, author: AUTHOR })).commits
  expect((await subjects('step')).map(({ subject }) => subject)).toEqual(['One', 'Two'])
  expect(await subjects('all')).toEqual([{ checkpoint: last.id, subject: 'One', files: 1 }])
  expect((await it.take('start..', { per: 'all' })).tree).toBe(it.treeNow())
})

test('the project is a folder of the repository: paths are those of the repository', async () => {
  await using s = await scratch()
  const it = await story(s, {
    folder: 'packages/app',
    files: { 'top.txt': 't\n', 'packages/app/a.txt': 'a\n', '.gitignore': '*.log\n' },
  })
  await it.project.save({ name: 'start' })
  await it.prompt('Change', {
    'packages/app/a.txt': 'a2\n',
    'packages/app/x/new.txt': 'n\n',
    'packages/app/out.log': 'log\n',
  })
  const { tree } = await it.take('start..')
  expect(tree).toBe(it.treeNow())
})

test('uncommitted work at the start comes first', async () => {
  await using s = await scratch()
  const it = await story(s, { files: { 'a.txt': 'a\n', 'gone.txt': 'g\n' } })
  s.write({ 'a.txt': 'dirty\n', 'new.txt': 'n\n', 'gone.txt': null })
  const start = await it.project.save({ name: 'start' })
  await it.prompt('Go on', { 'new.txt': 'n2\n' })
  const { log, tree } = await it.take('start..')
  expect(log[0]).toBe(`Work before the first of these commits\n\nSavestate-Checkpoint: ${start.id}`)
  expect(log).toHaveLength(2)
  expect(tree).toBe(it.treeNow())
})

test('renames, deletions, modes, links, binary files, and odd names', async () => {
  await using s = await scratch()
  const long = Array.from({ length: 50 }, (_, n) => `line ${n}\n`).join('')
  const it = await story(s, {
    files: {
      'old.txt': long,
      'gone.txt': 'g\n',
      'dir/x.txt': 'x\n',
      link: 'was a file\n',
      'bin.dat': '\0\u0001',
    },
  })
  await it.project.save({ name: 'start' })
  await it.prompt(
    'Odd',
    { dir: null, link: null },
    {
      'old.txt': null,
      'renamed.txt': `${long}more\n`,
      'gone.txt': null,
      dir: { content: 'now a file\n', mode: 0o644 },
      'run.sh': { content: '#!/bin/sh\n', mode: 0o755 },
      'bin.dat': Buffer.from([0, 255, 13, 10, 0, 1]),
      '"\\377\\040\\"q\\n"': 'not UTF-8\n',
      'sp ace/ü.txt': 'umlaut\n',
      'no-newline': 'x',
    },
  )
  await it.prompt('Links', { link: { link: 'renamed.txt' }, 'dir-link': { link: 'sp ace' } })
  await it.prompt(
    'Back',
    { dir: null, 'dir-link': null },
    {
      'dir/deep/y.txt': 'y\n',
      'dir-link/z.txt': 'z\n',
      'run.sh': { content: '#!/bin/sh\n', mode: 0o644 },
    },
  )
  expect((await it.take('start..')).tree).toBe(it.treeNow())
  expect((await it.take('start..', { per: 'all' })).tree).toBe(it.treeNow())
})

test('line ends are converted as git does', async () => {
  for (const config of [[['core.autocrlf', 'true'] as const], []]) {
    await using s = await scratch()
    const it = await story(s, {
      config,
      files: {
        '.gitattributes': '*.crlf text eol=crlf\n*.raw -text\n',
        'plain.txt': 'one\r\ntwo\r\n',
        'x.crlf': 'one\r\ntwo\r\n',
        'y.raw': 'one\r\ntwo\r\n',
      },
    })
    await it.project.save({ name: 'start' })
    await it.prompt('Lines', {
      'plain.txt': 'one\r\ntwo\r\nthree\r\n',
      'x.crlf': 'one\r\n2\r\n',
      'y.raw': 'one\r\n2\r\n',
      'new.txt': 'new\r\n',
      'new.crlf': 'new\r\n',
    })
    expect((await it.take('start..')).tree).toBe(it.treeNow())
  }
})

test('files that git ignores and repositories inside are left out', async () => {
  await using s = await scratch()
  const it = await story(s, { files: { '.gitignore': 'dist/\n', 'a.txt': 'a\n' } })
  s.write({ '.savestateignore': '!dist/\n', 'nested/n.txt': 'n\n' })
  s.git(['init', '-q'], { cwd: join(s.project, 'nested') })
  await it.project.save({ name: 'start' })
  const made = await it.prompt('Build', { 'dist/out.js': 'o\n', 'nested/n.txt': 'n2\n', b: 'b\n' })
  expect((await it.project.file(made.id, 'dist/out.js')).type).toBe('file')
  const { files } = await it.take('start..')
  expect(files).toEqual(['.gitignore', '.savestateignore', 'a.txt', 'b'])
  // No longer ignored: a commit has the file from then on, although it did not change.
  await it.prompt('Track it', { '.gitignore': '' })
  const after = await it.project.commits('start..1', { author: AUTHOR })
  expect(after.commits.map(({ subject, files }) => ({ subject, files }))).toEqual([
    { subject: 'Work before the first of these commits', files: 1 },
    { subject: 'Build', files: 1 },
    { subject: 'Track it', files: 2 },
  ])
})

test('a tracked file that Savestate does not save is not removed', async () => {
  await using s = await scratch()
  const it = await story(s, {
    files: { '.env': 'TOKEN=1\n', 'a.txt': 'a\n', 'big.bin': 'small\n', 'own.txt': 'o\n' },
  })
  s.write({ '.savestateignore': 'own.txt\n' })
  await it.project.save({ name: 'start' })
  await it.prompt('Grow', { 'a.txt': 'a2\n', 'big.bin': Buffer.alloc(11 << 20, 1) })
  const { files } = await it.take('start..')
  expect(files).toEqual(['.env', '.savestateignore', 'a.txt', 'big.bin', 'own.txt'])
  await it.prompt('Remove', { 'big.bin': null, 'a.txt': 'a3\n' })
  expect((await it.take('start..')).files).toEqual(['.env', '.savestateignore', 'a.txt', 'own.txt'])
})

test('prompts become messages that git am keeps, without secrets', async () => {
  await using s = await scratch()
  const it = await story(s, {})
  await it.project.save({ name: 'start' })
  const prompts = [
    '[WIP] fix: it',
    '--- a/x',
    'From: Mallory <m@example.com>',
    'diff --git a/x b/x',
    `use the key sk-ant-api03-${'a1B2'.repeat(23)}AA now`,
    'ünïcode 🙂 \u202e\u0007 text',
    'a very long prompt '.repeat(10).trim(),
    '',
  ]
  for (const [n, prompt] of prompts.entries()) await it.prompt(prompt, { 'n.txt': `${n}\n` })
  const { log } = await it.take('start..', { template: '{subject}\n\n{prompt}\n---\n{agent}' })
  const subjects = log.map((message) => message.split('\n')[0])
  expect(subjects).toEqual([
    'Prompt: [WIP] fix: it',
    '--- a/x',
    'From: Mallory <m@example.com>',
    'diff --git a/x b/x',
    subjects[4],
    'ünïcode 🙂 text',
    'a very long prompt a very long prompt a very long prompt a very long…',
    'Edit n.txt',
  ])
  expect(subjects[4]).toMatch(/^use the key .*now$/)
  expect(log.join('\n')).not.toContain('a1B2a1B2')
  const clone = it.clone()
  const { content } = await it.project.commits('start..', { author: AUTHOR })
  s.git(['am', '-q'], { cwd: clone, input: Buffer.from(content) })
  const authors = s.git(['log', '--format=%an', '-8'], { cwd: clone })
  expect(new Set(authors.split('\n'))).toEqual(new Set(['Ada']))
})

test('work that a rewind took back is left out, and so are commits without changes', async () => {
  await using s = await scratch()
  const it = await story(s, {})
  await it.project.save({ name: 'start' })
  const one = await it.prompt('Keep', { 'b.txt': '1\n' })
  await it.prompt('Wrong', { 'b.txt': '2\n', 'c.txt': 'c\n' })
  await it.project.rewind(one.id)
  await it.prompt('Nothing', {})
  await it.prompt('Right', { 'd.txt': 'd\n' })
  const { commits } = await it.project.commits('start..', { author: AUTHOR })
  expect(commits.map(({ subject }) => subject)).toEqual(['Keep', 'Right'])
  expect((await it.take('start..')).tree).toBe(it.treeNow())
  await it.project.undo({ confirm: () => true }).catch(() => undefined)
})

test('without a repository the bundle has no parent, and the mbox only the changes', async () => {
  await using s = await scratch({ files: { 'a.txt': 'a\n' } })
  const store = await s.open()
  const project = await store.project(s.project)
  await project.save({ name: 'start' })
  s.write({ 'a.txt': 'a2\n' })
  const saved = await project.save({ reason: 'Second' })
  const warnings: string[] = []
  const options = { author: AUTHOR, onWarning: (text: string) => warnings.push(text) }
  const mbox = await project.commits('start..', options)
  expect(mbox.commits).toEqual([{ checkpoint: saved.id, subject: 'Second', files: 1 }])
  expect(mbox.base).toBe(null)
  expect(warnings).toEqual([
    'No commit of your repository is recorded before the first of these checkpoints, so the first commit has no parent.',
  ])
  const bundle = await project.commits('start..', { author: AUTHOR, format: 'bundle' })
  const other = join(s.folder, 'other')
  mkdirSync(other)
  s.git(['init', '-q', '-b', 'main'], { cwd: other })
  writeFileSync(join(s.folder, 'b.bundle'), bundle.content)
  s.git(['fetch', '-q', join(s.folder, 'b.bundle'), 'savestate:main', '--update-head-ok'], {
    cwd: other,
  })
  s.git(['reset', '-q', '--hard'], { cwd: other })
  expect(readFileSync(join(other, 'a.txt'), 'utf8')).toBe('a2\n')
  expect(s.git(['log', '--format=%s'], { cwd: other })).toBe(
    'Second\nWork before the first of these commits',
  )
})

test('nothing in the repository of the user changes', async () => {
  await using s = await scratch()
  const it = await story(s, {})
  await it.project.save({ name: 'start' })
  await it.prompt('Change', { 'a.txt': 'b\n' })
  // Objects that exist there already: git would update the times of their files.
  const bundle = await it.project.commits('start..', { author: AUTHOR, format: 'bundle' })
  writeFileSync(join(s.folder, 'x.bundle'), bundle.content)
  it.git('fetch', '-q', join(s.folder, 'x.bundle'), 'savestate:work')
  const before = s.hashTree(join(s.project, '.git'))
  await it.project.commits('start..', { author: AUTHOR, format: 'bundle' })
  await it.project.commits('start..', { author: AUTHOR })
  await it.project.notes(null)
  expect(s.hashTree(join(s.project, '.git'))).toEqual(before)
})

test('ranges and options that make no sense are refused', async () => {
  await using s = await scratch()
  const it = await story(s, {})
  await it.project.save({ name: 'a..b' })
  await it.prompt('Change', { 'a.txt': 'b\n' })
  const codeOf = async (range: string, options: CommitsOptions = {}) =>
    it.project.commits(range, { author: AUTHOR, ...options }).then(
      ({ commits }) => commits.map(({ subject }) => subject),
      (error: { code?: string }) => error.code,
    )
  expect(await codeOf('1')).toBe('BAD_INPUT')
  expect(await codeOf('1..2')).toBe('BAD_INPUT')
  expect(await codeOf('1..none')).toBe('CHECKPOINT_UNKNOWN')
  expect(await codeOf('a..b..1')).toEqual(['Change'])
  expect(await codeOf('1..1')).toEqual([])
  expect(await codeOf('2..1', { template: '{nothing}' })).toBe('BAD_INPUT')
  expect(await codeOf('2..1', { author: 'nobody' })).toBe('BAD_INPUT')
})
