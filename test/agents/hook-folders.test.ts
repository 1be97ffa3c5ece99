// Which project an event belongs to when the agent works in a subfolder of its project.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handleHook } from '../../src/agents/hooks/handle-hook.js'
import type { Store } from '../../src/index.js'
import { type Scratch, scratch } from '../support/scratch.js'

type Event = { readonly name: string; readonly cwd: string; readonly session?: string }

async function hook(store: Store, { name, cwd, session = 's' }: Event): Promise<string> {
  const call = { tool_name: 'Bash', tool_use_id: 't', tool_input: { command: 'x' }, prompt: 'p' }
  const payload = { session_id: session, cwd, hook_event_name: name, ...call }
  const answer = await handleHook(store, { agent: 'claude', eventName: name, payload })
  expect(answer).toMatchObject({ exitCode: 0, stderr: '' })
  return answer.stdout
}

/** A tool call in the folder. */
async function call(store: Store, cwd: string, work: () => void): Promise<string> {
  const before = await hook(store, { name: 'PreToolUse', cwd })
  work()
  return before + (await hook(store, { name: 'PostToolUse', cwd }))
}

async function repository(s: Scratch, files: Record<string, string> = {}): Promise<Store> {
  s.write({ 'a.txt': 'one', ...files })
  s.git(['init', '-q'])
  s.git(['add', '-A'])
  s.git(['commit', '-qm', 'c'])
  const store = await s.open()
  await hook(store, { name: 'UserPromptSubmit', cwd: s.project })
  return store
}

const NESTED = {
  'a worktree in a default exclude': ['.worktrees/f', {}, ['worktree', 'add', '-q']],
  'a worktree in an ignored folder': [
    '.claude/worktrees/f',
    { '.gitignore': '.claude/worktrees/\n', '.claude/x': 'x' },
    ['worktree', 'add', '-q'],
  ],
  'an ignored clone': ['repos/service', { '.savestateignore': 'repos\n' }, ['clone', '-q', '.']],
} as const

test.each(Object.keys(NESTED) as (keyof typeof NESTED)[])(
  '%s is a separate project: work in it is saved, also after it was removed',
  async (kind) => {
    await using s = await scratch()
    const [place, files, git] = NESTED[kind]
    const store = await repository(s, files)
    s.git([...git, place])
    const nested = join(s.project, place)
    const work = join(nested, 'deep', 'work.txt')
    await call(store, nested, () => s.write({ 'deep/work.txt': 'hours of work' }, nested))
    // From a subfolder, with and without a subagent.
    await call(store, join(nested, 'deep'), () => rmSync(work))
    await call(store, s.project, () => s.write({ 'a.txt': 'two' }))
    const inner = await store.project(nested)
    const checkpoints = await inner.list()
    expect(checkpoints.map(({ session }) => session)).toEqual(['s@2', 's@2', 's@2'])
    await inner.rewind('2')
    expect(readFileSync(work, 'utf8')).toBe('hours of work')
    // The outer project has its own changes, and none of the other.
    const outer = await (await store.project(s.project)).list()
    expect(outer.map(({ session }) => session)).toEqual(['s', 's'])
    rmSync(nested, { recursive: true })
    await hook(store, { name: 'PreToolUse', cwd: nested })
    expect((await store.status()).failures).toEqual([])
  },
)

test('a repository that the project captures belongs to it', async () => {
  await using s = await scratch()
  const store = await repository(s)
  s.git(['clone', '-q', '.', 'vendor/lib'])
  const nested = join(s.project, 'vendor/lib')
  await call(store, nested, () => s.write({ 'work.txt': 'work' }, nested))
  expect((await store.status()).projects.map(({ path }) => path)).toEqual([s.project])
})

test('work in a folder that no project saves is reported once to the user', async () => {
  await using s = await scratch()
  const store = await repository(s, { '.gitignore': 'build\n' })
  for (const name of ['build/out', 'node_modules/x'])
    mkdirSync(join(s.project, name), { recursive: true })
  s.write({ 'node_modules/x/package.json': '{}' })
  const work = () => s.write({ 'build/out/work.txt': 'work' })
  const said = await call(store, join(s.project, 'build/out'), work)
  expect(JSON.parse(said)).toEqual({
    systemMessage: `Savestate saves nothing in "${join(s.project, 'build')}", where the agent works now: an ignore file or a default exclude leaves it out.`,
  })
  expect(await call(store, join(s.project, 'build'), work)).toBe('')
  expect(await call(store, join(s.project, 'node_modules/x'), work)).toContain('node_modules')
  expect(await call(store, s.project, work)).toBe('')
  expect((await store.status()).projects.map(({ path }) => path)).toEqual([s.project])
})

test('a session that starts in a package of a saved project is saved with that project', async () => {
  await using s = await scratch()
  const store = await repository(s, { 'packages/a/package.json': '{}' })
  const event = { name: 'UserPromptSubmit', cwd: join(s.project, 'packages/a'), session: 's-2' }
  s.write({ 'packages/a/b.txt': 'b' })
  expect(await hook(store, event)).toBe('')
  expect((await store.status()).projects.map(({ path }) => path)).toEqual([s.project])
})
