// Answers that arrive late or in another order. They are real answers of the real server; the test only delays them.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/index.js'
import { claudePrompt, rowOf, rowsOf } from '../support/agent-story.js'
import { agentStore, CLAUDE_SESSION, PROMPTS, SECRET } from '../support/browser/agent-store.js'
import { holdAnswers } from '../support/browser/held-answers.js'
import { addCheckpoints } from '../support/browser/large-stores.js'
import {
  applyButton,
  applyPlan,
  DIALOG,
  planRows,
  planShown,
  undoBar,
} from '../support/browser/restore-dialog.js'
import { ready, useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
const inProject = (path: string) => join(ui.store.project, path)
const idOf = (reason: string) => rowOf(ui.store, reason).id
const card = (words: string) =>
  ui.page.locator('[data-view=timeline] [role=row][data-id]', { hasText: words })
const ask = (prompt: string) => claudePrompt(ui.store, prompt, { session_id: 'late-session' })

/** Shows the timeline and waits until it follows the store. */
async function showLive(): Promise<void> {
  await ui.show('/')
  await ui.page.locator('[data-live=on]').waitFor()
}

test('a change before the first list has arrived is shown, and stays', async () => {
  const { page } = ui
  await using answers = await holdAnswers(page, 'start', { only: 1 })
  await page.goto(new URL('/', ui.server.origin).href)
  await answers.arrived(1)
  await page.locator('[data-live=on]').waitFor()
  ask('Asked before the first list is there')
  await answers.release(0)
  await card('Asked before the first list is there').waitFor()
  // A request that the page makes later proves that it has handled both lists.
  const scanned = page.waitForResponse('**/api/here')
  await page.evaluate(`dispatchEvent(new Event('focus'))`)
  await scanned
  expect(await card('Asked before the first list is there').count()).toBe(1)
})

test('a change during an update is shown by one more update, and the lists keep their order', async () => {
  const { page } = ui
  await showLive()
  await using answers = await holdAnswers(page, 'start')
  ask('The first of two')
  await answers.arrived(1)
  ask('The second of two')
  // The page asks again only when it has the first answer.
  expect(answers.count()).toBe(1)
  await answers.release(0)
  await answers.arrived(2)
  expect(await card('The second of two').count()).toBe(0)
  await answers.end()
  await card('The second of two').waitFor()
  const times = (words: string) => card(words).count()
  expect([await times('The first of two'), await times('The second of two')]).toEqual([1, 1])
})

test('the project that was chosen last is shown, whichever answer comes first', async () => {
  const { page } = ui
  const other = join(ui.store.folder, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'only-here.txt'), 'x\n')
  expect(ui.store.run(['save', '-m', 'the other project'], { cwd: other })).toMatchObject({
    code: 0,
  })
  await showLive()
  const picker = page.getByRole('combobox', { name: 'Project' })
  await using answers = await holdAnswers(page, 'start')
  await picker.selectOption(other)
  await answers.arrived(1)
  await picker.selectOption(ui.store.project)
  await answers.arrived(2)
  await answers.release(1)
  await answers.release(0)
  await answers.end()
  ask('Asked in the first project')
  await card('Asked in the first project').waitFor()
  expect(await card('the other project').count()).toBe(0)
  expect(await picker.inputValue()).toBe(ui.store.project)
})

test('older rows that arrive after a live update are added once', async () => {
  const { page } = ui
  const store = await openStore({ home: ui.store.home, durability: 'process', inProcess: true })
  await addCheckpoints(store, { project: ui.store.project, count: 400 })
  await store.close()
  const known = rowsOf(ui.store).length
  await using answers = await holdAnswers(page, 'rows')
  await showLive()
  await answers.arrived(1)
  ask('Asked while older rows are loaded')
  await card('Asked while older rows are loaded').waitFor()
  await answers.end()
  await expect
    .poll(() => page.locator('.tl-count').innerText())
    .toBe(`${(known + 1).toLocaleString('en')} checkpoints`)
})

test('a name that a terminal gives to one of the oldest rows is shown', async () => {
  const { page } = ui
  await showLive()
  await page.locator('.tl-count', { hasText: / checkpoints$/ }).waitFor()
  await page.keyboard.press('j')
  await page.locator('[role=row]:focus').waitFor()
  await page.keyboard.press('End')
  const count = await page.locator('[role=treegrid]').getAttribute('aria-rowcount')
  const oldest = page.locator(`[role=row][aria-rowindex="${count}"]:focus`)
  await oldest.waitFor()
  const id = (await oldest.getAttribute('data-id')) ?? ''
  expect(ui.store.run(['name', id, 'the-very-first'])).toMatchObject({ code: 0 })
  await oldest.getByText('the-very-first').waitFor()
})

test('typed words stay when the answer for fewer of them arrives', async () => {
  const { page } = ui
  await using answers = await holdAnswers(page, 'search')
  await page.goto(new URL('/search', ui.server.origin).href)
  const field = page.getByRole('searchbox', { name: /^Search in prompts/ })
  await field.pressSequentially('generate.mjs')
  await answers.arrived(1)
  await field.pressSequentially(' nothing-has-this')
  await answers.release(0)
  await answers.arrived(2)
  expect(await field.inputValue()).toBe('generate.mjs nothing-has-this')
  await answers.end()
  await page.locator('[data-view=search][data-state=empty]').waitFor()
  expect(await field.inputValue()).toBe('generate.mjs nothing-has-this')
})

test('the file that was chosen last is shown, whichever answer comes first', async () => {
  const { page } = ui
  await ui.show(`/c/${idOf('Edit src/login.ts')}`)
  await page.locator('[data-line]').first().waitFor()
  await using answers = await holdAnswers(page, 'patch')
  await page.getByRole('option', { name: /sso\.ts/ }).click()
  await answers.arrived(1)
  await page.getByRole('option', { name: /login\.ts/ }).click()
  await answers.arrived(2)
  await answers.release(1)
  await page.locator('[data-line]', { hasText: 'ticket !== undefined' }).waitFor()
  await answers.release(0)
  await answers.end()
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
  expect(await page.locator('.file-title').innerText()).toBe('src/login.ts')
  expect(await page.locator('[data-line]', { hasText: 'ticket-of-' }).count()).toBe(0)
})

test('secrets that arrive after they were hidden again are not shown', async () => {
  const { page } = ui
  await ui.show(`/s/${CLAUDE_SESSION}`)
  const removed = page.locator('.tool', { hasText: 'rm notes.txt' })
  await removed.getByText('the key is ••••••').waitFor()
  await using answers = await holdAnswers(page, 'items')
  const shown = page.getByRole('checkbox', { name: 'show secrets' })
  await shown.check()
  await answers.arrived(1)
  await shown.uncheck()
  await answers.arrived(2)
  await answers.release(1)
  await removed.getByText('the key is ••••••').waitFor()
  await answers.release(0)
  await answers.end()
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
  expect(await page.content()).not.toContain(SECRET)
})

test('a plan for an earlier choice is never shown', async () => {
  const { page } = ui
  writeFileSync(inProject('README.md'), '# By hand\n')
  await ui.show(`/c/${idOf(`You: ${PROMPTS.tests}`)}`)
  await page.keyboard.press('r')
  await planShown(page)
  const actionOfMine = async () =>
    (await planRows(page)).find(({ path }) => path === 'README.md')?.action
  expect(await actionOfMine()).toBe('keep')
  await using answers = await holdAnswers(page, 'plan')
  const mine = page.getByRole('switch', { name: /Keep my changes/ })
  await mine.uncheck()
  await answers.arrived(1)
  expect(await applyButton(page).isEnabled()).toBe(false)
  await mine.check()
  // The shown plan is for these choices.
  await expect.poll(() => applyButton(page).isEnabled()).toBe(true)
  await answers.arrived(2)
  await answers.release(0)
  await answers.release(1)
  await answers.arrived(3)
  expect(await actionOfMine()).toBe('keep')
  expect(await mine.isChecked()).toBe(true)
  await answers.end()
  await page.keyboard.press('Escape')
  await page.locator(DIALOG).waitFor({ state: 'detached' })
})

test('while a restore takes long, the page follows the store; then the bar has Undo', async () => {
  const { page } = ui
  await ui.show(`/c/${idOf(`You: ${PROMPTS.tests}`)}`)
  await page.keyboard.press('r')
  await planShown(page)
  await using plans = await holdAnswers(page, 'plan')
  // The dialog makes its plan again by itself; this one is late.
  await plans.arrived(1)
  await using answers = await holdAnswers(page, 'apply')
  await applyButton(page).click()
  await answers.arrived(1)
  expect(rowsOf(ui.store)[0]?.kind).toBe('rewind')
  await plans.end()
  await page.locator(DIALOG).getByRole('button', { name: 'Going back …' }).waitFor()
  expect(await undoBar(page).count()).toBe(0)
  ui.store.write({ 'during.txt': 'saved while the page waits\n' })
  expect(ui.store.run(['save', '-m', 'Saved during the restore'])).toMatchObject({ code: 0 })
  await answers.end()
  await page.locator(DIALOG).waitFor({ state: 'detached' })
  await undoBar(page).getByRole('button', { name: 'Undo' }).waitFor()
  await page.getByRole('link', { name: 'Timeline' }).click()
  await card('Saved during the restore').waitFor()
  expect(existsSync(inProject('src/table.ts'))).toBe(false)
  await undoBar(page).getByRole('button', { name: 'Undo' }).click()
  await applyPlan(page)
  expect(existsSync(inProject('src/table.ts'))).toBe(true)
  await ready(page)
})
