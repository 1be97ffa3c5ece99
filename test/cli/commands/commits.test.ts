// `savestate commits` and `savestate notes`: stdout is an mbox, -o never overwrites, --json has the documented shape.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prepared, type Scratch, scratch } from '../program.js'

function git(folder: string, args: readonly string[], input = ''): string {
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', [...identity, ...args], { cwd: folder, env, input, stdio: 'pipe' })
    .toString('utf8')
    .trim()
}

const saved = prepared(() => {
  const s = scratch({ 'a.txt': 'one\n' })
  git(s.project, ['init', '-q', '-b', 'main'])
  git(s.project, ['add', '-A'])
  git(s.project, ['commit', '-q', '-m', 'first'])
  s.run(['save', '--name', 'start'])
  s.write({ 'a.txt': 'two\n' })
  s.run(['save', '-m', 'Count to two'])
  return s
})
const BY = ['--author', 'Ada <ada@example.com>']

const commitsOf = (s: Scratch, ...args: string[]) => s.run(['commits', 'start..', ...BY, ...args])

test('stdout is an mbox that git am takes', () => {
  using s = saved()
  const { code, stdout, stderr } = commitsOf(s)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const clone = join(s.folder, 'clone')
  git(s.folder, ['clone', '-q', s.project, clone])
  git(clone, ['am', '-q'], stdout)
  expect(git(clone, ['log', '--format=%an %s', '-1'])).toBe('Ada Count to two')
  expect(readFileSync(join(clone, 'a.txt'), 'utf8')).toBe('two\n')
})

test('-o writes a new file, and --json says where', () => {
  using s = saved()
  const checkpoint = (JSON.parse(s.run(['show', '1', '--json']).stdout) as { id: string }).id
  const commits = [{ checkpoint, subject: 'Count to two', files: 1 }]
  expect(JSON.parse(commitsOf(s, '--json').stdout)).toEqual({ commits, path: null })
  const path = join(s.project, 'work.bundle')
  const made = commitsOf(s, '--format', 'bundle', '-o', 'work.bundle', '--json')
  expect(JSON.parse(made.stdout)).toEqual({ commits, path })
  git(s.project, ['bundle', 'verify', '-q', path])
  const again = commitsOf(s, '-o', 'work.bundle')
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists already')])
  const none = s.run(['commits', '1..1', '-o', 'none.mbox'])
  expect(none.stdout).toBe('Nothing that git tracks differs between these checkpoints.\n')
  expect(existsSync(join(s.project, 'none.mbox'))).toBe(false)
})

test('a template is a file or a text', () => {
  using s = saved()
  const subjectOf = (template: string) => {
    const { code, stdout } = commitsOf(s, '--template', template, '--json')
    if (code !== 0) return code
    return (JSON.parse(stdout) as { commits: { subject: string }[] }).commits[0]?.subject
  }
  writeFileSync(join(s.project, 'template.txt'), 'From a file: {subject}\n')
  expect(subjectOf('template.txt')).toBe('From a file: Count to two')
  expect(subjectOf('feat: {subject}')).toBe('feat: Count to two')
  expect(subjectOf('missing.txt')).toBe(2)
})

test('notes are listed, or written as a bundle', () => {
  using s = saved()
  git(s.project, ['commit', '-q', '-a', '-m', 'second'])
  const commit = git(s.project, ['rev-parse', 'HEAD'])
  const checkpoint = (JSON.parse(s.run(['show', '1', '--json']).stdout) as { id: string }).id
  const { notes } = JSON.parse(s.run(['notes', '--all', '--json']).stdout) as {
    notes: { commit: string; checkpoints: string[] }[]
  }
  expect(notes.at(-1)).toEqual({ commit, checkpoints: [checkpoint] })
  expect(s.run(['notes']).stdout).toContain(
    `commit ${commit}\n    you: Count to two\n    Savestate-Checkpoint: ${checkpoint}`,
  )
  expect(s.run(['notes', '-o', 'n.bundle']).code).toBe(0)
  const ref = 'refs/notes/savestate'
  git(s.project, ['fetch', '-q', 'n.bundle', `${ref}:${ref}`])
  expect(git(s.project, ['notes', '--ref=savestate', 'show', commit])).toBe(
    `you: Count to two\nSavestate-Checkpoint: ${checkpoint}`,
  )
  expect(s.run(['notes', '1..1', '--all']).code).toBe(2)
})
