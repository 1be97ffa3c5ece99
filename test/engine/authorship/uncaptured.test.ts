// Changes of files that no checkpoint contains: the tool call that makes them gets a checkpoint, and a rewind lists them.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  claudeHook,
  claudePrompt,
  claudeShell,
  inProject,
  rowOf,
  rowsOf,
} from '../../support/agent-story.js'
import { type Scratch, scratch } from '../../cli/program.js'
import { EACH_WAY } from '../../daemon/daemon-helpers.js'

const FILES = {
  'a.txt': 'one\n',
  '.gitignore': 'node_modules/\nbuild/\n*.log\nlocal/\n',
  '.env': 'KEY=1\n',
  'build/out.js': '1',
  'node_modules/deep/er/x.js': '1',
}
const reasons = (s: Scratch) => rowsOf(s).map(({ reason }) => reason)
const PROMPT = 'You: Clean up'

describe.each(EACH_WAY)('$way:', ({ open }) => {
  test('only a call that changed ignored files gets a checkpoint that says so', () => {
    using s = open(FILES)
    claudePrompt(s, 'Clean up')
    claudeShell(s, 'true')
    claudeShell(s, 'echo KEY= > .env')
    claudeShell(s, 'rm -rf node_modules build')
    claudeShell(s, 'mkdir local && echo x > local/x')
    claudeShell(s, 'ls')
    claudeHook(s, 'Stop')
    expect(reasons(s)).toEqual([
      'Bash: mkdir local && echo x > local/x (changed only ignored files: local/)',
      'Bash: rm -rf node_modules build (changed only ignored files: build/, node_modules/)',
      'Bash: echo KEY= > .env (changed only ignored files: .env)',
      PROMPT,
    ])
    expect(s.json(['show', '3'])).toMatchObject({
      files: 0,
      hasFiles: true,
      moment: 'after',
      uncaptured: [{ path: '.env', reason: 'secret', change: 'changed', isFolder: false }],
    })
    expect(s.run(['show', '2']).stdout).toMatch(
      /Not saved: {2}2 paths changed that no checkpoint has\n {2}removed {2}build\/ .*\n {2}removed {2}node_modules\/ /,
    )
    expect(s.run(['verify']).code).toBe(0)
  })
})

test('a rewind lists the changes it cannot restore, limited to the requested paths', () => {
  using s = scratch(FILES)
  claudePrompt(s, 'Clean up')
  claudeShell(s, 'echo KEY= > .env; echo two > a.txt')
  claudeShell(s, 'rm -rf build')
  const { id } = rowOf(s, PROMPT)
  const lines = [
    'Not restored, because no checkpoint has it (2):',
    '  build/  (removed by "Bash: rm -rf build", just now)',
    '  .env  (changed by "Bash: echo KEY= > .env; echo two > a.txt", just now)\n',
  ].join('\n')
  for (const args of [['--dry-run'], ['--yes']]) {
    const { stdout } = s.run(['rewind', id, ...args])
    expect(stdout.endsWith(lines)).toBe(true)
  }
  expect(s.json(['rewind', id, '--path', 'a.txt', '--dry-run'])).toMatchObject({ notRestored: [] })
  expect(s.json(['rewind', id, '--dry-run'])).toMatchObject({
    notRestored: [
      { path: 'build', change: 'removed', by: 'Bash: rm -rf build', isFolder: true },
      { path: '.env', change: 'changed', reason: 'secret', isFolder: false },
    ],
  })
  const { id: last } = rowOf(s, 'Bash: rm -rf build (changed only ignored files: build/)')
  expect(s.json(['rewind', last, '--dry-run'])).toMatchObject({ notRestored: [] })
})

test('a file that the target contains is restored and not listed', () => {
  using s = scratch({ ...FILES, '.gitignore': '!dev.log\n', 'dev.log': '0' })
  claudePrompt(s, 'Clean up')
  claudeShell(s, 'echo > .gitignore')
  claudeShell(s, 'echo 1 > dev.log; echo 2 > other.log')
  const { id } = rowOf(s, PROMPT)
  const result = s.json(['rewind', id, '--yes']) as {
    readonly notRestored: readonly { path: string }[]
  }
  expect(result.notRestored.map(({ path }) => path)).toEqual(['other.log'])
  expect(readFileSync(inProject(s, 'dev.log'), 'utf8')).toBe('0')
})

test('a change between calls makes no checkpoint, and a file that often changes so makes none during calls either', () => {
  using s = scratch({ ...FILES, 'dev.log': '0' })
  const log = () => appendFileSync(inProject(s, 'dev.log'), 'x')
  claudePrompt(s, 'Clean up')
  for (const command of ['echo 1', 'echo 2', 'echo 3']) {
    log()
    claudeShell(s, command)
  }
  claudeShell(s, 'echo 4 >> dev.log')
  writeFileSync(inProject(s, '.env'), 'edited by hand')
  claudeHook(s, 'Stop')
  claudePrompt(s, 'Next')
  claudeShell(s, 'echo 5 >> .env')
  expect(reasons(s)).toEqual([
    'Bash: echo 5 >> .env (changed only ignored files: .env)',
    'You: Next',
    PROMPT,
  ])
})

test('saves by hand, by the SDK and at a prompt ignore such changes', () => {
  using s = scratch(FILES)
  claudePrompt(s, 'Clean up')
  claudeShell(s, 'true')
  rmSync(inProject(s, 'build'), { recursive: true })
  s.run(['save', '-m', 'by hand'])
  s.run(['save', '--session', 'own', '--state', '-'], { input: '{}' })
  claudePrompt(s, 'Next')
  const rows = reasons(s)
  expect(rows.filter((reason) => reason?.includes('changed only') === true)).toEqual([])
  expect(rows[0]).toBe('You: Next')
})

test('an entry that becomes captured, or is listed differently, is not reported as removed', () => {
  using s = scratch(FILES)
  claudePrompt(s, 'Clean up')
  claudeShell(s, 'echo node_modules/ > .gitignore')
  const { uncaptured } = s.json(['show', '1']) as { readonly uncaptured: readonly unknown[] }
  expect(uncaptured).toEqual([])
})

test('a change deep in an ignored folder is not detected', () => {
  using s = scratch(FILES)
  claudePrompt(s, 'Clean up')
  claudeShell(s, 'rm node_modules/deep/er/x.js')
  expect(reasons(s)).toEqual([PROMPT])
})

test('beyond the limit of compared entries, the compared ones are still detected', () => {
  const many = Array.from({ length: 300 }, (_, n) => [`log/${String(n).padStart(3, '0')}.log`, '1'])
  using s = scratch({ ...FILES, ...Object.fromEntries(many) })
  claudePrompt(s, 'Clean up')
  claudeShell(s, 'rm log/299.log')
  claudeShell(s, 'echo 2 > .env')
  expect(reasons(s)).toEqual(['Bash: echo 2 > .env (changed only ignored files: .env)', PROMPT])
})

test('among hundreds of ignored entries those near the root are detected', () => {
  const caches = Array.from({ length: 250 }, (_, at) => [`src/d${at}/x.log`, ''])
  using s = scratch({ ...Object.fromEntries(caches), 'a.txt': '1', '.gitignore': '*.log\nz/\n' })
  claudePrompt(s, 'Clean up')
  claudeShell(s, 'true')
  claudeShell(s, 'echo KEY= > .env; mkdir z')
  claudeShell(s, 'rm -rf .env z')
  expect(reasons(s)).toEqual([
    'Bash: rm -rf .env z (changed only ignored files: .env, z/)',
    'Bash: echo KEY= > .env; mkdir z (changed only ignored files: .env, z/)',
    PROMPT,
  ])
})
