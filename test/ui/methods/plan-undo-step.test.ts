// The undo of one step: its plan, the choice for conflicts, and that nothing else is carried out.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PlanInput } from '../../../src/ui/api.js'
import { openPage, type Page } from '../page-helpers.js'

type StepInput = Extract<PlanInput, { readonly kind: 'undoStep' }>

const LINES = ['one', 'two', 'three', 'four', 'five', 'six']
const textWith = (changed: Readonly<Record<number, string>>) =>
  LINES.map((line, index) => `${changed[index] ?? line}\n`).join('')

/** A step changes the first line of two files; then the last line of one and the first of the other are changed. */
async function openStep(
  options: Parameters<typeof openPage>[1] = {},
): Promise<{ readonly page: Page; readonly input: StepInput }> {
  const page = await openPage({ 'clean.txt': textWith({}), 'both.txt': textWith({}) }, options)
  await page.project.save()
  page.s.write({ 'clean.txt': textWith({ 0: 'step' }), 'both.txt': textWith({ 0: 'step' }) })
  const { id: ref } = await page.project.save({ reason: 'the step' })
  page.s.write({ 'clean.txt': textWith({ 0: 'step', 5: 'later' }) })
  return { page, input: { project: page.s.project, kind: 'undoStep', ref } }
}

const file = (page: Page, name: string) => readFileSync(join(page.s.project, name), 'utf8')
const contents = (page: Page) => ['clean.txt', 'both.txt'].map((name) => file(page, name))
const listed = async (page: Page, input: PlanInput) => {
  const { lines, token } = await page.call('plan', input)
  return [token !== null, ...lines.map(({ action, path, reason }) => [action, path, reason])]
}

test('the plan of a step keeps later changes, is carried out once and can be undone', async () => {
  const { page, input } = await openStep()
  await using _page = page
  const before = page.s.hashTree(page.s.project)
  const saved = contents(page)
  const plan = await page.call('plan', input)
  expect(plan).toEqual({
    token: expect.stringMatching(/^[\w-]{32}$/),
    kind: 'undoStep',
    restore: 'files',
    target: expect.objectContaining({ id: input.ref, reason: 'the step' }),
    goal: input.ref,
    rewoundAt: null,
    lines: [
      { action: 'write', path: 'both.txt', reason: 'content differs', author: null },
      { action: 'write', path: 'clean.txt', reason: 'content differs', author: 'you' },
    ],
    canSelect: false,
    notRestored: [],
    outside: [],
    unavailable: { files: null, conversation: null },
    conversation: null,
    runningSession: null,
    command: `savestate -C ${page.s.project} undo ${input.ref}`,
    madeAt: expect.any(String),
  })
  expect(page.s.hashTree(page.s.project)).toEqual(before)
  const token = plan.token ?? ''
  const applied = await page.call('apply', { token })
  const { undo } = await page.call('here', { project: page.s.project })
  expect(applied).toEqual({
    restore: 'files',
    written: 2,
    removed: 0,
    safety: expect.any(String),
    rewoundAt: undo?.rewoundAt,
    command: null,
  })
  expect(contents(page)).toEqual([textWith({ 5: 'later' }), textWith({})])
  expect(await page.refusal('apply', { token })).toBe('409 PLAN_STALE')
  expect(await listed(page, input)).toEqual([false])
  const back = await page.call('plan', { project: page.s.project, kind: 'undo' })
  await page.call('apply', { token: back.token ?? '' })
  expect(contents(page)).toEqual(saved)
})

test.each<[NonNullable<StepInput['conflict']>, unknown, string]>([
  ['refuse', [false, ['conflict', 'both.txt', 'the same lines were changed since']], ''],
  [
    'ours',
    [true, ['keep', 'both.txt', 'kept as it is: the same lines were changed since']],
    'mine',
  ],
  ['theirs', [true, ['write', 'both.txt', 'content differs']], 'one'],
  ['markers', [true, ['write', 'both.txt', 'has conflict markers']], '<<<<<<< now'],
])('a conflict with the choice %s', async (conflict, expected, firstLine) => {
  const { page, input } = await openStep()
  await using _page = page
  page.s.write({ 'both.txt': textWith({ 0: 'mine' }) })
  const chosen = { ...input, conflict }
  const { token, command, lines } = await page.call('plan', chosen)
  const clean = { action: 'write', path: 'clean.txt', reason: 'content differs', author: 'you' }
  expect(lines).toContainEqual(clean)
  const others = (await listed(page, chosen)).filter((line) => !String(line).includes('clean.txt'))
  expect(others).toEqual(expected)
  const flag = conflict === 'refuse' ? '' : ` --conflict=${conflict}`
  expect(command).toBe(`savestate -C ${page.s.project} undo ${input.ref}${flag}`)
  if (token === null) return
  await page.call('apply', { token })
  expect(file(page, 'both.txt').split('\n')[0]).toBe(firstLine)
  expect(file(page, 'clean.txt')).toBe(textWith({ 5: 'later' }))
})

test.each<[string, (page: Page) => void]>([
  ['a file of the step', ({ s }) => s.write({ 'both.txt': textWith({ 0: 'step', 3: 'x' }) })],
  ['another file', ({ s }) => s.write({ 'newer.txt': 'x\n' })],
  ['a file into a conflict', ({ s }) => s.write({ 'both.txt': textWith({ 0: 'mine' }) })],
])('the plan is stale after someone has changed %s', async (_what, change) => {
  const { page, input } = await openStep()
  await using _page = page
  const { token } = await page.call('plan', input)
  change(page)
  const before = page.s.hashTree(page.s.project)
  expect(await page.refusal('apply', { token: token ?? '' })).toBe('409 PLAN_STALE')
  expect(page.s.hashTree(page.s.project)).toEqual(before)
})

test('single paths of it cannot be selected', async () => {
  const { page, input } = await openStep()
  await using _page = page
  const { token } = await page.call('plan', input)
  const paths = ['clean.txt']
  expect(await page.refusal('apply', { token: token ?? '', paths })).toBe('400 BAD_INPUT')
})

test('a step without a checkpoint before it says so', async () => {
  const { page, input } = await openStep()
  await using _page = page
  const [, first] = await page.project.list()
  const plan = await page.call('plan', { ...input, ref: first?.id ?? '' })
  expect(plan).toMatchObject({
    token: null,
    lines: [],
    target: { id: first?.id },
    unavailable: { files: expect.stringMatching(/before/) },
  })
})

test('a read-only page shows the plan and has no token for it', async () => {
  const { page, input } = await openStep({ isReadOnly: true })
  await using _page = page
  expect(await listed(page, input)).toEqual([
    false,
    ['write', 'both.txt', 'content differs'],
    ['write', 'clean.txt', 'content differs'],
  ])
  expect(await page.refusal('apply', { token: 'x' })).toBe('403 ACCESS_REFUSED')
})
