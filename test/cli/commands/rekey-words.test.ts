// The first rekey leaves no prompt and no command of an agent unencrypted in any file of the store (finding 15 of the
// security review).
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../program.js'
import { HIDE_POINTS } from '../../support/failpoints/rekey.js'

const KEY = { SAVESTATE_KEY: '3d'.repeat(32) }
const PROMPT = 'SENTINEL-PROMPT'
const COMMAND = 'SENTINEL-COMMAND'
const MESSAGE = 'my own message'

function hook(s: Scratch, event: string, payload: object): void {
  const input = JSON.stringify({
    session_id: 'one',
    cwd: s.project,
    transcript_path: join(s.folder, 'transcript.jsonl'),
    hook_event_name: event,
    ...payload,
  })
  expect(s.run(['hook', 'claude', event], { input })).toMatchObject({ code: 0, stderr: '' })
}

function call(s: Scratch, files: Readonly<Record<string, string>>): void {
  const id = `call-${Object.keys(files).join()}`
  const tool = { tool_name: 'Bash', tool_input: { command: `make ${COMMAND}` }, tool_use_id: id }
  hook(s, 'PreToolUse', tool)
  s.write(files)
  hook(s, 'PostToolUse', { ...tool, tool_response: 'done' })
}

/** Prompts, calls, a call that changes ignored files only, rewinds that quote them, and a message of the user's own. */
function work(s: Scratch): void {
  hook(s, 'UserPromptSubmit', { prompt: `fix ${PROMPT}` })
  call(s, { 'a.txt': 'two\n' })
  call(s, { 'ignored.txt': 'two\n' })
  s.write({ 'b.txt': 'mine\n' })
  expect(s.run(['save', '-m', MESSAGE]).code).toBe(0)
  const at = (words: string) =>
    String(reasons(s).findIndex((reason) => reason?.startsWith(words)) + 1)
  for (const words of ['Bash', 'You'])
    expect(s.run(['rewind', at(words), '--files', '-y']).code).toBe(0)
  expect(s.run(['undo', '-y']).code).toBe(0)
}

function reasons(s: Scratch): (string | null)[] {
  const { checkpoints } = s.json(['list', '--all']) as {
    readonly checkpoints: readonly { readonly reason: string | null }[]
  }
  return checkpoints.map(({ reason }) => reason)
}

/** The files of the store with one of the words, and its git objects. */
function found(s: Scratch): string[] {
  const files = readdirSync(s.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const objects = execFileSync(
    'git',
    ['--git-dir', join(s.home, 'objects.git'), 'cat-file', '--batch-all-objects', '--batch'],
    { maxBuffer: 1 << 28 },
  )
  const isTelling = (bytes: Buffer) => bytes.includes(PROMPT) || bytes.includes(COMMAND)
  return [
    ...files.filter((path) => isTelling(readFileSync(path))),
    ...(isTelling(objects) ? ['a git object'] : []),
  ]
}

test('rekey hides prompts and commands in notes, reasons, details and commits', () => {
  using s = scratch({ '.gitignore': 'ignored.txt\n', 'a.txt': 'one\n', 'ignored.txt': 'one\n' })
  work(s)
  expect(found(s)).toEqual(expect.arrayContaining([join(s.home, 'ledger.db'), 'a git object']))
  expect(s.run(['rekey', '-y'], { env: KEY })).toMatchObject({ code: 0 })
  expect(found(s)).toEqual([])
  expect(withoutIds(reasons(s))).toEqual([
    'undo of rewind to before "a prompt" (ID)',
    'rewind to before "a prompt" (ID)',
    'rewind to after "Bash" (ID)',
    MESSAGE,
    'Bash',
    'Bash',
    'You: a prompt',
  ])
  expect(s.json(['verify'])).toMatchObject({ problems: [] })
  const own = reasons(s).indexOf(MESSAGE) + 1
  expect(s.run(['rewind', String(own), '--files', '-y']).code).toBe(0)
})

test.each(Object.keys(HIDE_POINTS))('killed at %s, the next rekey hides the rest', (point) => {
  using s = scratch({ 'a.txt': 'one\n' })
  hook(s, 'UserPromptSubmit', { prompt: `fix ${PROMPT}` })
  const killed = s.run(['rekey', '-y'], { env: { ...KEY, SAVESTATE_FAILPOINT: `${point}@1` } })
  expect(killed.code).toBe(null)
  expect(s.run(['rekey', '-y'], { env: KEY })).toMatchObject({ code: 0 })
  expect(found(s)).toEqual([])
  expect(reasons(s)).toEqual(['You: a prompt'])
  expect(s.json(['verify'])).toMatchObject({ problems: [] })
})

function withoutIds(texts: readonly (string | null)[]): (string | undefined)[] {
  return texts.map((reason) => reason?.replace(/\b[bcdfghjklmnpqrstvwxz]{8}\b/, 'ID'))
}
