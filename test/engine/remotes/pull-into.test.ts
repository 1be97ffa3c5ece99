// `pull` finds the folder of a session on another machine, and continues the conversation of its agent there.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gitPlace, type Machine, machine } from '../../support/sharing/two-machines.js'

const place = gitPlace()

const CLAUDE = [
  { type: 'user', promptId: 'p-1', message: { content: 'First' } },
  { type: 'assistant', message: { content: [{ type: 'text', text: 'One.' }] } },
  { type: 'user', promptId: 'p-2', message: { content: 'Second' } },
  { type: 'assistant', message: { content: [{ type: 'text', text: 'Two.' }] } },
]
const SESSION = '01a1e321-f1c6-7702-8185-9a72afbfd586'

/** Two turns of Claude Code; the second changes a file. */
function claudeStory(on: Machine): string {
  const transcript = join(on.folder, 'user', 'transcript.jsonl')
  const hook = (event: string, fields: object) => {
    const input = JSON.stringify({
      session_id: SESSION,
      cwd: on.project,
      transcript_path: transcript,
      ...fields,
    })
    expect(on.run(['hook', 'claude', event], { input })).toMatchObject({ code: 0, stderr: '' })
  }
  const write = (lines: number) => writeFileSync(transcript, textOf(CLAUDE.slice(0, lines)))
  on.write({ 'a.txt': 'before\n' })
  hook('UserPromptSubmit', { prompt: 'First', prompt_id: 'p-1' })
  write(2)
  hook('UserPromptSubmit', { prompt: 'Second', prompt_id: 'p-2' })
  on.write({ 'a.txt': 'after\n' })
  write(4)
  hook('Stop', { prompt_id: 'p-2' })
  return transcript
}

const textOf = (entries: readonly unknown[]) =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

test('a conversation with Claude Code continues on another machine, at another path', async () => {
  const url = await place.newUrl()
  using a = machine(url)
  a.ok('remote', 'init')
  claudeStory(a)
  a.ok('handoff')
  using b = machine(url)
  b.write({ 'a.txt': 'mine\n' })
  const dry = b.ok('pull', SESSION, '--into', '.', '--dry-run')
  expect(dry).not.toContain('claude --resume')
  const said = b.ok('pull', SESSION, '--into', '.', '-y')
  expect(readFileSync(join(b.project, 'a.txt'), 'utf8')).toBe('after\n')
  const [, file = ''] = /^ +claude --resume (\S+) --fork-session$/m.exec(said) ?? []
  expect(file.startsWith(join(b.home, 'conversations'))).toBe(true)
  expect(readFileSync(file, 'utf8')).toBe(textOf(CLAUDE))
})

test('without an origin, a folder is linked by its first session, and later sessions find it', async () => {
  const url = await place.newUrl()
  using a = machine(url, { origin: null })
  a.ok('remote', 'init')
  a.saveStep('first', 'one')
  a.ok('push')
  using b = machine(url, { origin: null })
  expect(b.ok('pull', 'first')).toContain('no folder here is a clone of its project')
  b.ok('pull', 'first', '--into', '.', '-y')
  a.saveStep('second', 'two')
  a.ok('push')
  const elsewhere = b.run(['pull', 'second'], { cwd: b.folder })
  expect(elsewhere.stdout).toContain(`second is here, in ${b.project}.`)
  // A session that begins here is of the same project there.
  b.saveStep('third', 'three')
  b.ok('handoff', 'third')
  expect(a.run(['pull', 'third'], { cwd: a.folder }).stdout).toContain(`in ${a.project}.`)
})

test('of two worktrees with one origin, a session belongs to the one where it is pulled', async () => {
  const url = await place.newUrl()
  using a = machine(url)
  a.ok('remote', 'init')
  a.saveStep('first', 'one')
  a.saveStep('second', 'two')
  a.ok('push')
  using b = machine(url)
  const tree = join(b.folder, 'tree')
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', b.project, ...args], { env: b.environment, stdio: 'pipe' })
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--allow-empty', '-qm', 'first')
  git('worktree', 'add', '-q', tree)
  expect(b.ok('pull', 'first')).toContain(`first is here, in ${b.project}.`)
  expect(b.run(['pull', 'second'], { cwd: tree }).stdout).toContain(`second is here, in ${tree}.`)
  // Later pulls leave them where they are.
  a.saveStep('first', 'one more')
  a.ok('push')
  expect(b.run(['pull', 'first'], { cwd: tree }).stdout).toContain(
    `first is here, in ${b.project}.`,
  )
  const other = join(b.folder, 'other')
  mkdirSync(other)
  const refused = b.run(['pull', 'first', '--into', other, '-y'])
  expect(refused.stderr).toContain(`The session "first" belongs to ${b.project}`)
})
