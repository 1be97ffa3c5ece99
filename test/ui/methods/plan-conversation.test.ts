// Ways back that include the conversation: of a coding agent, and the state of an SDK session.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PlanInput, Restored } from '../../../src/ui/api.js'
import { openPage, type Page } from '../page-helpers.js'

const entry = (type: string, promptId: string, text: string) =>
  JSON.stringify({ type, promptId, message: { role: type, content: text } })
const TRANSCRIPT = [
  entry('user', 'p-1', 'Set up the project'),
  entry('assistant', 'p-1', 'Done.'),
  entry('user', 'p-2', 'Fix the login'),
]

/** Two prompts of Claude Code as its hooks save them; the second one has changed a file. Returns the row of the second prompt. */
async function openClaude(): Promise<{ readonly page: Page; readonly ref: string }> {
  const page = await openPage({ 'a.txt': 'one\n' })
  const session = await page.store.session('claude-s-1', { project: page.project, agent: 'claude' })
  const prompt = async (turnId: string, text: string, lines: number) => {
    const metadata = {
      agent: 'claude',
      agentSession: 's-1',
      at: 'turn-start',
      turnId,
      prompt: text,
    }
    const state = { transcript: TRANSCRIPT.slice(0, lines) }
    return session.save({ files: true, reason: `You: ${text}`, metadata, state })
  }
  await prompt('p-1', 'Set up the project', 0)
  const { id: ref } = await prompt('p-2', 'Fix the login', 3)
  await session.close()
  page.s.write({ 'a.txt': 'two\n' })
  return { page, ref }
}

const file = (page: Page) => readFileSync(join(page.s.project, 'a.txt'), 'utf8')
const rewind = (page: Page, ref: string, restore: Restored): PlanInput => ({
  project: page.s.project,
  kind: 'rewind',
  ref,
  restore,
})

test('the conversation of a coding agent goes back as a copy, without the files', async () => {
  const { page, ref } = await openClaude()
  await using _page = page
  const plan = await page.call('plan', rewind(page, ref, 'conversation'))
  expect(plan).toMatchObject({
    restore: 'conversation',
    target: { id: ref },
    lines: [],
    canSelect: false,
    unavailable: { files: null, conversation: null },
    conversation:
      'A copy of the conversation goes back: before you asked "Fix the login". The original stays as it is.',
    command: `savestate -C ${page.s.project} rewind ${ref} --conversation`,
  })
  const copy = join(page.s.home, 'conversations', `${ref}.jsonl`)
  expect(existsSync(copy)).toBe(false)
  expect(await page.call('apply', { token: plan.token ?? '' })).toEqual({
    restore: 'conversation',
    written: 0,
    removed: 0,
    safety: null,
    rewoundAt: null,
    command: `claude --resume ${copy} --fork-session`,
  })
  expect(readFileSync(copy, 'utf8')).toBe(`${TRANSCRIPT.slice(0, 2).join('\n')}\n`)
  expect(file(page)).toBe('two\n')
})

test('both go back together, and the undo names the original conversation', async () => {
  const { page, ref } = await openClaude()
  await using _page = page
  const plan = await page.call('plan', rewind(page, ref, 'both'))
  expect(plan).toMatchObject({ lines: [{ action: 'write', path: 'a.txt' }], canSelect: true })
  const applied = await page.call('apply', { token: plan.token ?? '' })
  expect(applied).toMatchObject({
    restore: 'both',
    written: 1,
    command: expect.stringMatching(/^claude --resume /),
  })
  expect(file(page)).toBe('one\n')
  const undo = await page.call('plan', { project: page.s.project, kind: 'undo' })
  expect(undo.conversation).toContain('The conversation of claude was rewound with the files.')
  expect(await page.call('apply', { token: undo.token ?? '' })).toMatchObject({
    restore: 'files',
    command: 'claude --resume s-1',
  })
  expect(file(page)).toBe('two\n')
})

test('both go back although no file differs', async () => {
  const { page, ref } = await openClaude()
  await using _page = page
  page.s.write({ 'a.txt': 'one\n' })
  const plan = await page.call('plan', rewind(page, ref, 'both'))
  expect(plan.lines).toEqual([])
  expect(await page.call('apply', { token: plan.token ?? '' })).toMatchObject({
    restore: 'both',
    written: 0,
    command: expect.stringMatching(/^claude --resume /),
  })
})

test('a plan for files says whether the conversation could go back', async () => {
  const { page, ref } = await openClaude()
  await using _page = page
  expect(await page.call('plan', rewind(page, ref, 'files'))).toMatchObject({
    unavailable: { files: null, conversation: null },
    conversation: null,
  })
  const session = await page.store.session('hermes-1', { project: page.project, agent: 'hermes' })
  const metadata = { agent: 'hermes', agentSession: 'h', at: 'turn-start' }
  const { id } = await session.save({ files: true, metadata })
  for (const restore of ['files', 'conversation', 'both'] as const)
    expect(await page.call('plan', rewind(page, id, restore))).toMatchObject({
      token: null,
      unavailable: {
        files: null,
        conversation: 'Hermes has no command that continues from an earlier point.',
      },
      conversation: null,
    })
})

test('a fork of a coding agent is the command that continues a copy', async () => {
  const { page, ref } = await openClaude()
  await using _page = page
  expect(await page.call('fork', { project: page.s.project, ref })).toEqual({
    session: null,
    command: `claude --resume ${join(page.s.home, 'conversations', `${ref}.jsonl`)} --fork-session`,
  })
})

/** Two steps of an SDK session; the second one has changed a file. Returns the first step. */
async function openTask(): Promise<{ readonly page: Page; readonly ref: string }> {
  const page = await openPage({ 'a.txt': 'one\n' })
  const session = await page.store.session('task', { project: page.project })
  const { id: ref } = await session.save({ files: true, state: { step: 1 } })
  page.s.write({ 'a.txt': 'two\n' })
  await session.save({ files: true, state: { step: 2 } })
  await session.close()
  return { page, ref }
}

async function stateOf(page: Page): Promise<unknown> {
  const session = await page.store.session('task', { create: false, lease: false })
  const state = await session.stateAt()
  await session.close()
  return state
}

test.each<[Restored, unknown, string]>([
  ['conversation', { step: 1 }, 'two\n'],
  ['both', { step: 1 }, 'one\n'],
  ['files', { step: 2 }, 'one\n'],
])('an SDK session goes back: %s', async (restore, state, content) => {
  const { page, ref } = await openTask()
  await using _page = page
  const plan = await page.call('plan', rewind(page, ref, restore))
  expect(plan.conversation).toBe(
    restore === 'files' ? null : 'The state of the session task goes back.',
  )
  expect([await stateOf(page), file(page)]).toEqual([{ step: 2 }, 'two\n'])
  expect(await page.call('apply', { token: plan.token ?? '' })).toMatchObject({
    restore,
    command: null,
  })
  expect([await stateOf(page), file(page)]).toEqual([state, content])
})

test('an undo of both brings the state back too', async () => {
  const { page, ref } = await openTask()
  await using _page = page
  const { token } = await page.call('plan', rewind(page, ref, 'both'))
  await page.call('apply', { token: token ?? '' })
  const undo = await page.call('plan', { project: page.s.project, kind: 'undo' })
  expect(undo).toMatchObject({
    restore: 'both',
    conversation: 'The state of the session task changes too.',
  })
  expect(await page.call('apply', { token: undo.token ?? '' })).toMatchObject({ restore: 'both' })
  expect([await stateOf(page), file(page)]).toEqual([{ step: 2 }, 'two\n'])
})

test('the state stays if the folder has changed since the plan, even to what it should become', async () => {
  const { page, ref } = await openTask()
  await using _page = page
  const { token } = await page.call('plan', rewind(page, ref, 'both'))
  page.s.write({ 'a.txt': 'one\n' })
  expect(await page.refusal('apply', { token: token ?? '' })).toBe('409 PLAN_STALE')
  expect(await stateOf(page)).toEqual({ step: 2 })
})

test('a session that another process writes can be planned, and is busy for apply', async () => {
  const { page, ref } = await openTask()
  await using _page = page
  const other = await page.s.open()
  const busy = await other.session('task')
  const plan = await page.call('plan', rewind(page, ref, 'both'))
  expect(plan.runningSession).toBe('task')
  expect(await page.refusal('apply', { token: plan.token ?? '' })).toBe('409 SESSION_BUSY')
  expect(file(page)).toBe('two\n')
  await busy.close()
})
