// Plans and what carries them out: nothing is applied that was not shown, and every token works once.
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PlanInput } from '../../../src/ui/api.js'
import { openPage, type Page } from '../page-helpers.js'

/** One checkpoint, then a changed, a removed and a new file. */
async function openChanged(): Promise<{ readonly page: Page; readonly input: RewindInput }> {
  const page = await openPage({ 'a.txt': 'one\n', 'gone.txt': 'gone\n', 'same.txt': 'same\n' })
  const { id: ref } = await page.project.save({ reason: 'by hand' })
  page.s.write({ 'a.txt': 'two\n', 'gone.txt': null, 'new/b.txt': 'b\n' })
  return { page, input: { project: page.s.project, kind: 'rewind', ref, restore: 'files' } }
}
type RewindInput = Extract<PlanInput, { readonly kind: 'rewind' }>

const tokenOf = async (page: Page, input: PlanInput) =>
  (await page.call('plan', input)).token ?? 'none'
const file = (page: Page, name: string) => readFileSync(join(page.s.project, name), 'utf8')

test('a plan has every line, changes nothing, and is carried out once', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const before = page.s.hashTree(page.s.project)
  const plan = await page.call('plan', input)
  expect(plan).toEqual({
    token: expect.stringMatching(/^[\w-]{32}$/),
    kind: 'rewind',
    restore: 'files',
    target: expect.objectContaining({ id: input.ref, reason: 'by hand' }),
    goal: input.ref,
    rewoundAt: null,
    lines: [
      { action: 'write', path: 'a.txt', reason: 'content differs', author: 'you' },
      { action: 'restore', path: 'gone.txt', reason: 'file is missing', author: 'you' },
      { action: 'remove', path: 'new/b.txt', reason: 'file created later', author: 'you' },
      { action: 'remove', path: 'new', reason: 'folder created later', author: 'you' },
    ],
    canSelect: true,
    notRestored: [],
    outside: [],
    unavailable: { files: null, conversation: 'The checkpoint belongs to no session.' },
    conversation: null,
    runningSession: null,
    command: `savestate -C ${page.s.project} rewind ${input.ref}`,
    madeAt: expect.any(String),
  })
  expect(page.s.hashTree(page.s.project)).toEqual(before)
  expect(await page.project.count()).toBe(1)
  const applied = await page.call('apply', { token: plan.token ?? '' })
  const { undo } = await page.call('here', { project: page.s.project })
  expect(applied).toEqual({
    restore: 'files',
    written: 2,
    removed: 2,
    safety: expect.any(String),
    rewoundAt: undo?.rewoundAt,
    command: null,
  })
  expect([file(page, 'a.txt'), file(page, 'gone.txt')]).toEqual(['one\n', 'gone\n'])
  expect(existsSync(join(page.s.project, 'new'))).toBe(false)
  expect(await page.refusal('apply', { token: plan.token ?? '' })).toBe('409 PLAN_STALE')
  expect(await page.call('plan', input)).toMatchObject({ token: null, lines: [] })
})

test('undo and redo have plans and tokens of their own', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const at = { project: page.s.project }
  expect(await page.refusal('plan', { ...at, kind: 'undo' })).toBe('409 NOTHING_TO_UNDO')
  await page.call('apply', { token: await tokenOf(page, input) })
  const undo = await page.call('plan', { ...at, kind: 'undo' })
  expect(undo).toMatchObject({
    kind: 'undo',
    restore: 'files',
    target: { id: input.ref },
    rewoundAt: expect.any(String),
    canSelect: false,
    command: `savestate -C ${page.s.project} undo`,
  })
  expect(undo.lines.map(({ action, path }) => `${action} ${path}`)).toEqual([
    'write a.txt',
    'restore new',
    'restore new/b.txt',
    'remove gone.txt',
  ])
  expect(await page.project.count()).toBe(3)
  expect(await page.refusal('apply', { token: undo.token ?? '', paths: ['a.txt'] })).toBe(
    '400 BAD_INPUT',
  )
  const again = await tokenOf(page, { ...at, kind: 'undo' })
  expect(await page.call('apply', { token: again })).toMatchObject({ written: 3, removed: 1 })
  expect(file(page, 'a.txt')).toBe('two\n')
  const redo = await tokenOf(page, { ...at, kind: 'redo' })
  expect(await page.call('apply', { token: redo })).toMatchObject({ written: 2, removed: 2 })
  expect(file(page, 'a.txt')).toBe('one\n')
})

test('an undo of files that match already is recorded by apply, not by the plan', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const at = { project: page.s.project, kind: 'undo' } as const
  await page.call('apply', { token: await tokenOf(page, input) })
  page.s.write({ 'a.txt': 'two\n', 'gone.txt': null, 'new/b.txt': 'b\n' })
  const plan = await page.call('plan', at)
  expect(plan.lines).toEqual([])
  expect((await page.call('here', { project: page.s.project })).undo).not.toBeNull()
  expect(await page.call('apply', { token: plan.token ?? '' })).toMatchObject({ written: 0 })
  expect(await page.call('here', { project: page.s.project })).toMatchObject({ undo: null })
})

test.each<[string, (page: Page) => void]>([
  ['a file of the plan', ({ s }) => s.write({ 'a.txt': 'three\n' })],
  ['another file', ({ s }) => s.write({ 'same.txt': 'changed\n' })],
  ['a new file', ({ s }) => s.write({ 'newer.txt': 'x\n' })],
  ['the file back', ({ s }) => s.write({ 'a.txt': 'one\n' })],
  ['everything back', ({ s }) => s.write({ 'a.txt': 'one\n', 'gone.txt': 'gone\n', new: null })],
])('a plan is stale after someone has changed %s', async (_what, change) => {
  const { page, input } = await openChanged()
  await using _page = page
  const [all, some] = [await tokenOf(page, input), await tokenOf(page, input)]
  change(page)
  const before = page.s.hashTree(page.s.project)
  expect(await page.refusal('apply', { token: all })).toBe('409 PLAN_STALE')
  expect(await page.refusal('apply', { token: some, paths: ['gone.txt'] })).toBe('409 PLAN_STALE')
  expect(page.s.hashTree(page.s.project)).toEqual(before)
  expect((await page.project.list()).map(({ kind }) => kind)).toEqual(['save'])
  expect((await page.store.status()).failures).toEqual([])
})

test('a second page that restores first makes the plan stale', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const [first, second] = [await tokenOf(page, input), await tokenOf(page, input)]
  await page.call('apply', { token: second })
  expect(await page.refusal('apply', { token: first })).toBe('409 PLAN_STALE')
})

test.each<[string, readonly string[], readonly string[]]>([
  ['one file', ['a.txt'], ['a.txt one']],
  ['a file that comes back', ['gone.txt'], ['gone.txt gone']],
  ['a file without its folder', ['new/b.txt'], ['new/b.txt -']],
  ['a folder with its file', ['new', 'new/b.txt'], ['new -']],
  ['a folder whose file is left out, and another file', ['new', 'a.txt'], ['a.txt one']],
])('only the selected paths change: %s', async (_what, paths, expected) => {
  const { page, input } = await openChanged()
  await using _page = page
  await page.call('apply', { token: await tokenOf(page, input), paths })
  const content = (name: string) =>
    existsSync(join(page.s.project, name)) ? file(page, name).trim() : '-'
  const start = { 'a.txt': 'two', 'gone.txt': '-', 'same.txt': 'same', 'new/b.txt': 'b' }
  const changed = Object.entries(start)
    .filter(([name, was]) => content(name) !== was)
    .map(([name]) => `${name} ${content(name)}`)
  const wanted = expected.map((line) => (line === 'new -' ? 'new/b.txt -' : line))
  expect(changed).toEqual(wanted)
  expect(existsSync(join(page.s.project, 'new'))).toBe(!expected.includes('new -'))
})

test('paths that were not shown, and a selection of nothing, are refused', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  for (const paths of [['same.txt'], ['../a.txt'], [], ['a.txt', 'x'], ['new']])
    expect(await page.refusal('apply', { token: await tokenOf(page, input), paths })).toBe(
      '400 BAD_INPUT',
    )
  expect(file(page, 'a.txt')).toBe('two\n')
})

test('a selection of very many paths is read', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const paths = Array.from({ length: 50_000 }, (_, n) => `a/folder/with/a/long/name/${n}`)
  expect(await page.refusal('apply', { token: await tokenOf(page, input), paths })).toBe(
    '400 BAD_INPUT',
  )
})

test('a name that moves to another checkpoint does not move the plan', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  await page.project.name(input.ref, 'good')
  const plan = await page.call('plan', { ...input, ref: 'good' })
  expect(plan.command).toBe(`savestate -C ${page.s.project} rewind ${input.ref}`)
  await page.project.name(input.ref, null)
  await page.call('apply', { token: plan.token ?? '' })
  expect(file(page, 'a.txt')).toBe('one\n')
})

test('a part of a plan is carried out although a rule now ignores another part', async () => {
  await using page = await openPage({ 'a.txt': 'one\n', 'log/x.txt': 'x\n' })
  const { id: ref } = await page.project.save()
  page.s.write({ 'a.txt': 'two\n', 'log/x.txt': 'y\n', '.gitignore': 'log/\n' })
  const input = { project: page.s.project, kind: 'rewind', ref, restore: 'files' } as const
  const { token, lines } = await page.call('plan', input)
  expect(lines.map(({ action, path }) => `${action} ${path}`)).toContain('write log/x.txt')
  await page.call('apply', { token: token ?? '', paths: ['a.txt'] })
  expect([file(page, 'a.txt'), file(page, 'log/x.txt')]).toEqual(['one\n', 'y\n'])
})

test('a file where a folder was is replaced only if it is selected too', async () => {
  await using page = await openPage({ 'd/x.txt': 'x\n', 'd/y.txt': 'y\n' })
  const { id: ref } = await page.project.save()
  rmSync(join(page.s.project, 'd'), { recursive: true })
  page.s.write({ d: 'mine\n' })
  const input = { project: page.s.project, kind: 'rewind', ref, restore: 'files' } as const
  const alone = { token: await tokenOf(page, input), paths: ['d/x.txt'] }
  expect(await page.refusal('apply', alone)).toBe('400 BAD_INPUT')
  expect(file(page, 'd')).toBe('mine\n')
  await page.call('apply', { token: await tokenOf(page, input), paths: ['d', 'd/x.txt'] })
  expect(file(page, 'd/x.txt')).toBe('x\n')
  expect(existsSync(join(page.s.project, 'd/y.txt'))).toBe(false)
})

test('keepMine leaves the changes of the user, and says so', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const plan = await page.call('plan', { ...input, keepMine: true })
  expect(plan.token).toBeNull()
  expect(plan.lines.map(({ action }) => action)).toEqual(['keep', 'keep', 'keep', 'keep'])
  expect(plan.command).toMatch(/ --keep-mine$/)
})

test('a conflict is shown, and refused unless it is left out', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' })
  const { id: ref } = await page.project.save()
  // A folder with content that no checkpoint holds is in the way of the file.
  page.s.write({ 'a.txt': null, '.gitignore': 'a.txt/secret\n' })
  page.s.write({ 'a.txt/secret': 'not saved\n' })
  const input = { project: page.s.project, kind: 'rewind', ref, restore: 'files' } as const
  const plan = await page.call('plan', input)
  expect(plan.lines.map(({ action, path }) => `${action} ${path}`)).toEqual([
    'conflict a.txt/secret',
    'write a.txt',
    'remove .gitignore',
  ])
  expect(await page.refusal('apply', { token: plan.token ?? '' })).toBe('409 REWIND_CONFLICT')
  const { token } = await page.call('plan', input)
  const applied = await page.call('apply', { token: token ?? '', paths: ['.gitignore'] })
  expect([applied.written, applied.removed]).toEqual([0, 1])
  expect(file(page, 'a.txt/secret')).toBe('not saved\n')
})

test('a folder that is gone is a reason, not an error', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  renameSync(page.s.project, `${page.s.project}-gone`)
  const plan = await page.call('plan', input)
  expect(plan).toMatchObject({
    token: null,
    lines: [],
    target: { id: input.ref },
    unavailable: { files: expect.stringContaining('no folder') },
  })
  expect(existsSync(page.s.project)).toBe(false)
  renameSync(`${page.s.project}-gone`, page.s.project)
})

test('before the first checkpoint there is nothing to go back to', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  expect(await page.call('plan', { ...input, before: true })).toMatchObject({
    token: null,
    unavailable: { files: expect.stringContaining('nothing was saved before it') },
  })
  expect(await page.refusal('plan', { ...input, ref: 'zzzz' })).toBe('404 CHECKPOINT_UNKNOWN')
})

test('a token is for its own project, and the oldest of more than a hundred is dropped', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const other = join(page.s.folder, 'other')
  page.s.write({ 'other/a.txt': 'one\n' }, page.s.folder)
  const { id: ref } = await (await page.store.project(other)).save()
  page.s.write({ 'a.txt': 'two\n' }, other)
  const token = await tokenOf(page, { ...input, project: other, ref })
  expect(await page.refusal('plan', { ...input, ref })).toBe('404 CHECKPOINT_UNKNOWN')
  await page.call('apply', { token })
  expect([file(page, 'a.txt'), readFileSync(join(other, 'a.txt'), 'utf8')]).toEqual([
    'two\n',
    'one\n',
  ])
  const first = await tokenOf(page, input)
  for (let n = 0; n < 100; n += 1) await tokenOf(page, input)
  expect(await page.refusal('apply', { token: first })).toBe('409 PLAN_STALE')
})

test('a running session is named', async () => {
  const { page, input } = await openChanged()
  await using _page = page
  const session = await page.store.session('task', { project: page.project })
  await session.save({ state: {} })
  expect((await page.call('plan', input)).runningSession).toBe('task')
  await session.close()
  expect((await page.call('plan', input)).runningSession).toBeNull()
})
