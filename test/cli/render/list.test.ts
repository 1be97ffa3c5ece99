// `savestate list` with its filters, on the history of real hooks.
import { expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { claudeHook, claudePrompt, claudeShell } from '../../support/agent-story.js'
import { prepared, type Scratch, scratch, steady } from '../program.js'

function makeHistory(): Scratch {
  const s = scratch({ 'a.txt': 'one\n', 'src/b.txt': 'one\n' })
  s.run(['save', '-m', 'by hand'])
  claudePrompt(s, 'Fix the login')
  claudeShell(s, 'echo two >> a.txt')
  claudeShell(s, 'rm -rf src')
  claudeHook(s, 'Stop')
  claudePrompt(s, 'Tidy up')
  claudeShell(s, 'echo three >> a.txt')
  s.run(['pin', '4'])
  return s
}

const withHistory = prepared(makeHistory)

type Row = { readonly number: number; readonly reason: string; readonly paths?: readonly string[] }

function numbers(s: Scratch, ...args: string[]): readonly number[] {
  const { checkpoints } = s.json(['list', ...args]) as { readonly checkpoints: readonly Row[] }
  return checkpoints.map(({ number }) => number)
}

const LEGEND =
  '● is the folder before the prompt; a call’s row is the folder after the call.\n' +
  'Go to just before a call: savestate rewind N --before\n'

test('a list shows prompts with their calls, and says which rows are before and which after', () => {
  // It compares ages.
  using s = makeHistory()
  const { stdout, stderr } = s.run(['list'])
  expect(steady(stdout).split('\n')).toEqual([
    '2  <id>  ● You: Tidy up                        claude · just now',
    '1  <id>  Bash: echo three >> a.txt         +1 · just now',
    '5  <id>  ● You: Fix the login                  claude · just now',
    '4  <id>  [pinned] Bash: echo two >> a.txt  +1 · just now',
    '3  <id>  Bash: rm -rf src                  −1 · just now',
    '6  <id>  by hand                             you 2 files +2 · just now',
    '',
  ])
  expect(stderr).toBe(LEGEND)
})

test('--prompts leaves out the calls', () => {
  using s = withHistory()
  expect(numbers(s, '--prompts')).toEqual([2, 5, 6])
  const { stdout, stderr } = s.run(['list', '--prompts'])
  expect(stdout).toMatch(/You: Tidy up +1 step · claude/)
  expect(stdout).toMatch(/You: Fix the login +2 steps · claude/)
  expect(stdout).not.toContain('Bash')
  expect(stderr).toBe('')
})

test('--grep finds words in reasons, prompts and changed paths, and keeps the numbers of the list', () => {
  using s = withHistory()
  expect(numbers(s, '--grep', 'rm -rf')).toEqual([3])
  expect(numbers(s, '--grep', 'login')).toEqual([3, 4, 5])
  expect(numbers(s, '--grep', 'b.txt')).toEqual([3, 6])
  const { stdout } = s.run(['list', '--grep', 'rm -rf'])
  // The prompt is shown with the call, so that the reader sees where it belongs.
  expect(steady(stdout)).toMatch(
    /^5 {2}<id> {2}● You: Fix the login .*\n3 {2}<id> {2}Bash: rm -rf src /,
  )
  expect(s.run(['list', '--grep', 'nowhere']).stdout).toBe(
    'No checkpoint has the words "nowhere".\n',
  )
  const limited = s.run(['list', '--grep', 'login', '-n', '1'])
  expect(limited.stderr).toBe(`${LEGEND}There are more: savestate list --grep login -n 5\n`)
  expect(s.run(['list', '--grep', ' ']).code).toBe(2)
  expect(s.run(['list', '--all', '--grep', ' ']).code).toBe(2)
  expect(numbers(s, '--all', '--grep', 'echo A.TXT')).toHaveLength(2)
})

test('--pinned shows pinned checkpoints, and combines with other filters', () => {
  using s = withHistory()
  expect(numbers(s, '--pinned')).toEqual([4])
  expect(numbers(s, '--pinned', '--grep', 'login')).toEqual([4])
  expect(numbers(s, '--pinned', '--grep', 'Tidy')).toEqual([])
  expect(s.run(['list', '--pinned', '--grep', 'Tidy']).stdout).toBe(
    'No checkpoint is pinned and has the words "Tidy".\n',
  )
})

test('paths after -- show which step changed them', () => {
  using s = withHistory()
  expect(numbers(s, '--', 'a.txt')).toEqual([1, 4, 6])
  expect(numbers(s, '--', 'src')).toEqual([3, 6])
  expect(s.json(['list', '-n', '1', '--', 'src'])).toMatchObject({
    checkpoints: [{ number: 3, reason: 'Bash: rm -rf src', paths: ['src', 'src/b.txt'] }],
  })
  expect(s.run(['list', '-n', '1', '--', 'src']).stderr).toBe(
    `${LEGEND}1 more: savestate list -n 2 -- src\n`,
  )
  expect(s.run(['list', '--', 'nothing']).stdout).toBe('No checkpoint changed nothing.\n')
  expect(s.run(['list', '--', '../elsewhere']).code).toBe(2)
})

test('the columns of a row do not depend on how many rows are shown', () => {
  // It compares ages.
  using s = makeHistory()
  const first = (...args: string[]) => steady(s.run(['list', ...args]).stdout).match(/^1 .*$/m)?.[0]
  expect(first('-n', '1')?.replace(/ +/g, ' ')).toBe(first()?.replace(/ +/g, ' '))
  expect(s.run(['list', '-n', '1']).stderr).toBe(`${LEGEND}5 more: savestate list -n 6\n`)
})

test('the row of a rewind names its target', () => {
  using s = withHistory()
  const id = (number: number) =>
    (s.json(['show', String(number)]) as { readonly id: string }).id.slice(0, 8)
  const [removed, asked] = [id(3), id(5)]
  s.run(['rewind', removed, '-y'])
  s.run(['rewind', asked, '-y'])
  s.run(['undo', '-y'])
  const { checkpoints } = s.json(['list', '-n', '4']) as { readonly checkpoints: readonly Row[] }
  expect(checkpoints.map(({ reason }) => reason)).toEqual([
    `undo of rewind to before "Fix the login" (${asked})`,
    `rewind to before "Fix the login" (${asked})`,
    `rewind to after "Bash: rm -rf src" (${removed})`,
    'Bash: echo three >> a.txt',
  ])
  const first = id(2)
  expect(s.run(['rewind', first, '-y']).stdout).toContain(
    `"rewind to before Fix the login (${asked})"`,
  )
  expect(s.json(['show', '1'])).toMatchObject({
    reason: `rewind to "rewind to before Fix the login" (${first})`,
  })
  expect(s.run(['fork', removed, '--as', 'other']).code).toBe(0)
  expect(s.json(['show', '1'])).toMatchObject({
    reason: `fork of "Bash: rm -rf src" (${removed})`,
  })
})

test('a long history is read in part: rows, groups and the number of further rows are right', async () => {
  using s = scratch({ 'package.json': '{}\n' })
  const store = await openStore({ home: s.home, durability: 'process' })
  const project = await store.project(s.project)
  const session = await store.session('long', { project })
  for (let step = 0; step < 260; step += 1) {
    s.write({ 'a.txt': `${step}\n` })
    await session.save({ reason: `Step ${step}`, files: true })
  }
  const ids = (await project.list()).map(({ id }) => id)
  const short = await store.shortIds(ids)
  for (const [id, prefix] of short) {
    expect(prefix.length).toBeGreaterThanOrEqual(4)
    expect(ids.filter((other) => other.startsWith(prefix))).toEqual([id])
  }
  expect(await project.list({ limit: 3 })).toHaveLength(3)
  expect(await project.count()).toBe(260)
  await session.close()
  await store.close()
  const { stdout, stderr } = s.run(['list', '-n', '3'])
  expect(stdout.split('\n').filter((line) => line.includes('Step'))).toHaveLength(3)
  expect(stderr).toContain('257 more: savestate list -n 260')
})
