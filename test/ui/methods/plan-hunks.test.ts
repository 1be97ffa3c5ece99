// A rewind of chosen changes of a file: only these go back, from the patch that was shown.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PlanInput } from '../../../src/ui/api.js'
import { openPage, type Page } from '../page-helpers.js'

type RewindInput = Extract<PlanInput, { readonly kind: 'rewind' }>

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index}`)
const textWith = (changed: Readonly<Record<number, string>>) =>
  LINES.map((line, index) => `${changed[index] ?? line}\n`).join('')

/** A file with two changes far from each other, and another changed file. */
async function openChanged(): Promise<{ readonly page: Page; readonly input: RewindInput }> {
  const page = await openPage({ 'a.txt': textWith({}), 'b.txt': 'one\n' })
  const { id: ref } = await page.project.save()
  page.s.write({ 'a.txt': textWith({ 1: 'first', 18: 'second' }), 'b.txt': 'two\n' })
  const at = { project: page.s.project, ref }
  const { mark } = await page.call('patch', { ...at, with: 'now', path: 'a.txt' })
  const hunks = [{ path: 'a.txt', mark, hunks: [1] }]
  return { page, input: { ...at, kind: 'rewind', restore: 'files', hunks } }
}

const contents = ({ s }: Page) =>
  ['a.txt', 'b.txt'].map((name) => readFileSync(join(s.project, name), 'utf8'))

test('only the chosen change goes back', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const plan = await page.call('plan', input)
  expect(plan).toMatchObject({
    token: expect.stringMatching(/^[\w-]{32}$/),
    lines: [{ action: 'write', path: 'a.txt' }],
    canSelect: false,
    command: `savestate -C ${page.s.project} rewind ${input.ref} --patch --path a.txt`,
  })
  const token = plan.token ?? ''
  expect(await page.call('apply', { token })).toMatchObject({ written: 1, removed: 0 })
  expect(contents(page)).toEqual([textWith({ 1: 'first' }), 'two\n'])
  expect(await page.refusal('apply', { token })).toBe('409 PLAN_STALE')
  // The patch that the choice was made from is another one now.
  expect(await page.refusal('plan', input)).toBe('409 PLAN_STALE')
})

test('without a chosen change there is nothing to carry out', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const hunks = (input.hunks ?? []).map((choice) => ({ ...choice, hunks: [] }))
  expect(await page.call('plan', { ...input, hunks })).toMatchObject({ token: null, lines: [] })
})

test.each<[string, string]>([
  ['the file', 'a.txt'],
  ['another file', 'c.txt'],
])('the plan is stale after someone has changed %s', async (_what, name) => {
  const { page, input } = await openChanged()
  await using _page = page
  const { token } = await page.call('plan', input)
  page.s.write({ [name]: textWith({ 1: 'first', 10: 'third', 18: 'second' }) })
  const before = page.s.hashTree(page.s.project)
  expect(await page.refusal('apply', { token: token ?? '' })).toBe('409 PLAN_STALE')
  expect(page.s.hashTree(page.s.project)).toEqual(before)
})

test.each<[string, (input: RewindInput) => RewindInput]>([
  ['with the conversation', (input) => ({ ...input, restore: 'both' })],
  ['of the conversation alone', (input) => ({ ...input, restore: 'conversation' })],
  ['with the user’s changes kept', (input) => ({ ...input, keepMine: true })],
  ['of no file', (input) => ({ ...input, hunks: [] })],
  [
    'of a path outside',
    (input) => ({ ...input, hunks: [{ path: '../x', mark: 'm', hunks: [0] }] }),
  ],
])('a choice %s is refused', async (_what, change) => {
  const { page, input } = await openChanged()
  await using _page = page
  expect(await page.refusal('plan', change(input))).toBe('400 BAD_INPUT')
})

test('paths cannot be selected as well', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const { token } = await page.call('plan', input)
  const paths = ['a.txt']
  expect(await page.refusal('apply', { token: token ?? '', paths })).toBe('400 BAD_INPUT')
})
