// Keys and clicks that the other tests of the page do not use: folding, jumping, filters, lists and trees by their keys.
import assert from 'node:assert/strict'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import { agentStore, CLAUDE_SESSION, PROMPTS } from '../support/browser/agent-store.js'
import { applyPlan, planShown, undoBar } from '../support/browser/restore-dialog.js'
import { useUi } from '../support/browser/use-ui.js'
import { snapshotOf } from '../support/scratch.js'

const ui = useUi(agentStore)
const row = (id: string) => ui.page.locator(`[data-view=timeline] [role=row][data-id="${id}"]`)
const focused = (field: string) =>
  ui.page.locator('[role=row]:focus').getAttribute(field, { timeout: 5000 })
const parameter = (name: string) => new URL(ui.page.url()).searchParams.get(name)
const press = (key: string) => ui.page.keyboard.press(key)
const ids = { login: '', edit: '', tests: '', codex: '' }
beforeAll(() => {
  ids.login = rowOf(ui.store, `You: ${PROMPTS.login}`).id
  ids.edit = rowOf(ui.store, 'Edit src/login.ts').id
  ids.codex = rowOf(ui.store, `You: ${PROMPTS.codex}`).id
  ids.tests = rowOf(ui.store, `You: ${PROMPTS.tests}`).id
})
afterEach(() => ui.page.setViewportSize({ width: 1280, height: 800 }))

test('timeline, by keyboard: Home, End, pages; Space and arrows fold; d compares with now', async () => {
  const { page } = ui
  await page.setViewportSize({ width: 1280, height: 400 })
  await ui.show('/')
  await press('j')
  await page.locator('[role=row]:focus').waitFor()
  const first = await focused('data-key')
  const position = async () => Number(await focused('aria-rowindex'))
  await press('End')
  await expect
    .poll(position)
    .toBe(Number(await page.locator('[role=treegrid]').getAttribute('aria-rowcount')))
  const last = await position()
  await press('PageUp')
  await expect.poll(position).toBeLessThan(last - 3)
  const above = await position()
  await press('PageDown')
  await expect.poll(position).toBeGreaterThan(above)
  await press('Home')
  await expect.poll(() => focused('data-key')).toBe(first)

  await row(ids.login).focus()
  const isOpen = () => row(ids.login).getAttribute('aria-expanded')
  for (const [key, state] of [
    [' ', 'false'],
    [' ', 'true'],
    ['ArrowLeft', 'false'],
    ['ArrowRight', 'true'],
  ] as const) {
    await press(key)
    await expect.poll(isOpen).toBe(state)
    expect(await row(ids.edit).count()).toBe(state === 'true' ? 1 : 0)
  }
  await row(ids.edit).focus()
  // A step cannot be folded: the arrow leads to its prompt.
  await press('ArrowLeft')
  await expect.poll(() => focused('data-id')).toBe(ids.login)
  await press('d')
  await page.locator('[data-view=checkpoint][data-state=ready]').waitFor()
  expect([new URL(page.url()).pathname, parameter('tab')]).toEqual([`/c/${ids.login}`, 'since'])
})

test('timeline, by mouse: the triangle folds, the fields filter, the strip and the date jump', async () => {
  const { page } = ui
  await page.setViewportSize({ width: 1280, height: 400 })
  await ui.show('/')
  await row(ids.login).locator('[data-toggle]').click()
  await row(ids.edit).waitFor({ state: 'detached' })
  await row(ids.login).locator('[data-toggle]').click()
  await row(ids.edit).waitFor({ state: 'attached' })

  await page.getByText('All kinds').click()
  await page.getByRole('checkbox', { name: 'Tool calls' }).uncheck()
  await row(ids.edit).waitFor({ state: 'detached' })
  expect(parameter('show')).toBe('prompts,saves,rewinds,unchanged')
  await page.getByText('4 of 5 kinds').waitFor()
  await press('Escape')
  await page.locator('details.tl-kinds:not([open]) summary:focus').waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await row(ids.edit).waitFor({ state: 'attached' })

  const author = page.getByRole('combobox', { name: 'Author' })
  await author.selectOption('codex')
  await row(ids.edit).waitFor({ state: 'detached' })
  const session = page.getByRole('combobox', { name: 'Session' })
  await session.selectOption(CLAUDE_SESSION)
  await author.selectOption('All authors')
  await row(ids.edit).waitFor({ state: 'attached' })
  expect([parameter('session'), parameter('author')]).toEqual([CLAUDE_SESSION, null])
  expect(await row(ids.codex).count()).toBe(0)
  // By keyboard: a letter chooses an option.
  await session.focus()
  await press('Home')
  await row(ids.codex).waitFor({ state: 'attached' })
  expect(parameter('session')).toBe(null)

  const scrolled = () =>
    page.evaluate<number>(`Math.round(document.querySelector('.tl-scroller').scrollTop)`)
  const strip = page.locator('.tl-strip')
  const { height = 0 } = (await strip.boundingBox()) ?? {}
  await strip.click({ position: { x: 8, y: height - 20 } })
  await expect.poll(scrolled).toBeGreaterThan(100)
  const jump = page.getByRole('combobox', { name: 'Jump to date' })
  await jump.selectOption({ index: 1 })
  await expect.poll(scrolled).toBe(0)
  expect(await jump.inputValue()).toBe('')
})

test('session: J and K lead to the next and the previous prompt', async () => {
  const { page } = ui
  await ui.show(`/s/${CLAUDE_SESSION}?at=0`)
  const current = page.locator('[data-item][data-current] [data-kind=prompt]')
  await current.getByText(PROMPTS.login).waitFor()
  await press('J')
  await current.getByText('txt.exe').waitFor()
  await press('J')
  await current.getByText(PROMPTS.tests).waitFor()
  await press('K')
  await current.getByText('txt.exe').waitFor()
  await press('K')
  await current.getByText(PROMPTS.login).waitFor()
  // Faster than the list can scroll.
  await page.evaluate(`for (const key of ['J', 'J'])
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`)
  await current.getByText(PROMPTS.tests).waitFor()
})

test('arrows choose a file of a diff, walk the tree of files, and choose a version', async () => {
  const { page } = ui
  await ui.show(`/c/${ids.edit}`)
  await page.getByRole('listbox', { name: 'Files' }).focus()
  for (const [key, file] of [
    ['ArrowDown', 'src/sso.ts'],
    ['ArrowUp', 'src/login.ts'],
    ['End', 'src/sso.ts'],
    ['Home', 'src/login.ts'],
  ] as const) {
    await press(key)
    await expect.poll(() => parameter('file')).toBe(file)
  }

  await ui.show(`/c/${ids.edit}?tab=files`)
  const node = (path: string) => page.locator(`[role=treeitem][data-path="${path}"]`)
  await node('src').focus()
  await press('ArrowRight')
  await page.locator('[data-path="src"][aria-expanded=true]').waitFor()
  await node('src/login.ts').waitFor()
  await press('ArrowRight')
  await page.locator('[data-path="src/login.ts"]:focus').waitFor()
  await press('Enter')
  await expect.poll(() => parameter('file')).toBe('src/login.ts')
  await press('ArrowLeft')
  await page.locator('[data-path="src"]:focus').waitFor()
  await press('ArrowLeft')
  await page.locator('[data-path="src"][aria-expanded=false]').waitFor()

  await ui.show('/files?path=src/login.ts')
  await page.getByRole('listbox', { name: /^Versions/ }).focus()
  const versions = await page
    .locator('.version-row')
    .evaluateAll((rows) => rows.map((one) => one.getAttribute('data-id')))
  await press('ArrowDown')
  await expect.poll(() => parameter('at')).toBe(versions[1])
  await press('ArrowUp')
  await expect.poll(() => parameter('at')).toBe(versions[0])
})

test('the conversation alone: no file changes, and the bar has the command but no Undo', async () => {
  const { page } = ui
  const before = snapshotOf(ui.store.project)
  await ui.show(`/c/${ids.tests}`)
  await press('r')
  await planShown(page)
  await page.getByRole('radio', { name: 'Conversation', exact: true }).check()
  await planShown(page)
  await applyPlan(page)
  expect(await undoBar(page).innerText()).toMatch(/claude --resume .* --fork-session/)
  expect(await undoBar(page).getByRole('button', { name: 'Undo' }).count()).toBe(0)
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate<number>(WIDEST)).toBeLessThanOrEqual(360)
  assert.deepEqual(snapshotOf(ui.store.project), before)
})

/** Each address, and how a dialog is opened on it. */
const WIDTHS: readonly (readonly [name: string, path: () => string, key: string])[] = [
  ['timeline', () => '/', ''],
  ['checkpoint', () => `/c/${ids.edit}?file=src/login.ts`, ''],
  ['since then', () => `/c/${ids.edit}?tab=since`, ''],
  ['files', () => `/c/${ids.edit}?tab=files&file=src/login.ts`, ''],
  ['conversation', () => `/c/${ids.edit}?tab=conversation`, ''],
  ['details', () => `/c/${ids.edit}?tab=details`, ''],
  ['sessions', () => '/sessions', ''],
  ['session', () => `/s/${CLAUDE_SESSION}`, ''],
  ['compare', () => `/compare?a=${ids.edit}`, ''],
  ['file history', () => '/files?path=src/login.ts', ''],
  ['search', () => '/search?q=login', ''],
  ['store', () => '/store', ''],
  ['restore dialog', () => `/c/${ids.edit}`, 'r'],
  ['name dialog', () => '/', 'n'],
  ['fork dialog', () => '/', 'f'],
  ['list of keys', () => '/', '?'],
]
const WIDEST = `Math.max(...['html', 'body', 'main', 'dialog', '.bar'].map((one) => document.querySelector(one)?.scrollWidth ?? 0))`

test.each(WIDTHS)('%s: at 360 pixels nothing is wider than the screen', async (_, path, key) => {
  const { page } = ui
  await page.setViewportSize({ width: 360, height: 740 })
  await ui.show(path())
  await page.locator('.state-message[role=status]').waitFor({ state: 'detached' })
  if (key !== '') {
    if (path() === '/') await row(ids.edit).focus()
    await press(key)
    await page.getByRole('dialog').waitFor()
    await page.locator('dialog .state-message').waitFor({ state: 'detached' })
  }
  expect(await page.evaluate<number>(WIDEST)).toBeLessThanOrEqual(360)
})
