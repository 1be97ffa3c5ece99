// Every way back goes through one dialog: it shows the whole plan, does exactly that, and can be undone.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { rowOf, rowsOf } from '../support/agent-story.js'
import { agentStore, PROMPTS } from '../support/browser/agent-store.js'
import {
  applyButton,
  applyPlan,
  DIALOG,
  planRows,
  planShown,
  undoBar,
} from '../support/browser/restore-dialog.js'
import { useUi } from '../support/browser/use-ui.js'
import { type Seen, snapshotOf } from '../support/scratch.js'

const ui = useUi(agentStore)
const inProject = (path: string) => join(ui.store.project, path)
const textOf = (path: string) => readFileSync(inProject(path), 'utf8')
/** The checkpoint before the third prompt: without the tests, the table and the change of Codex. */
let target = ''
let before: ReadonlyMap<string, Seen> = new Map()
beforeAll(() => {
  target = rowOf(ui.store, `You: ${PROMPTS.tests}`).id
  before = snapshotOf(ui.store.project)
})
/** Each test takes back what it did, to the byte. */
afterEach(() => assert.deepEqual(snapshotOf(ui.store.project), before))
const PLAN = [
  { action: 'remove', path: 'src/table.ts', ticked: true },
  { action: 'write', path: 'src/utilities.ts', ticked: true },
  { action: 'remove', path: 'test/login.test.ts', ticked: true },
]
async function openRestore(id: string): Promise<void> {
  await ui.show(`/c/${id}`)
  await ui.page
    .getByRole('button', { name: /^Restore/ })
    .first()
    .click()
  await planShown(ui.page)
}

async function undoFromBar(): Promise<void> {
  await undoBar(ui.page).getByRole('button', { name: /^Undo/ }).click()
  await applyPlan(ui.page)
}

test('by mouse: the plan is shown, carried out, undone, redone and undone again', async () => {
  const { page } = ui
  await openRestore(target)
  expect(await planRows(page)).toEqual(PLAN)
  expect(await applyButton(page).textContent()).toBe('Go back: 3 files')
  await applyPlan(page)
  expect(existsSync(inProject('src/table.ts'))).toBe(false)
  expect(existsSync(inProject('test/login.test.ts'))).toBe(false)
  expect(textOf('src/utilities.ts')).toContain('value7 = 7')
  expect(rowsOf(ui.store)[0]?.kind).toBe('rewind')

  await undoFromBar()
  expect(existsSync(inProject('src/table.ts'))).toBe(true)
  expect(rowsOf(ui.store)[0]?.kind).toBe('undo')

  await ui.show('/')
  await page.getByRole('button', { name: 'Redo' }).first().click()
  await applyPlan(page)
  expect(existsSync(inProject('src/table.ts'))).toBe(false)
  await ui.show('/')
  await page.getByRole('button', { name: 'Undo it' }).click()
  await applyPlan(page)
})

test('by keyboard: r opens the dialog, Tab reaches the button, Enter presses it, Escape closes', async () => {
  const { page } = ui
  await ui.show(`/c/${target}`)
  await page.keyboard.press('r')
  await planShown(page)
  await page.keyboard.press('Escape')
  await page.locator(DIALOG).waitFor({ state: 'detached' })
  expect(existsSync(inProject('src/table.ts'))).toBe(true)

  await page.keyboard.press('r')
  await planShown(page)
  await tabTo('[data-action=apply]')
  await page.keyboard.press('Enter')
  await page.locator(DIALOG).waitFor({ state: 'detached' })
  expect(existsSync(inProject('src/table.ts'))).toBe(false)
  await ui.show('/')
  await page.getByRole('button', { name: /^Undo/ }).first().waitFor()
  await page.keyboard.press('u')
  await planShown(page)
  await tabTo('[data-action=apply]')
  await page.keyboard.press('Enter')
  await page.locator(DIALOG).waitFor({ state: 'detached' })
  expect(existsSync(inProject('src/table.ts'))).toBe(true)
})

/** Presses Tab until the element has the focus. The dialog has far fewer stops than that. */
async function tabTo(selector: string): Promise<void> {
  const isThere = `document.activeElement?.matches(${JSON.stringify(selector)}) === true`
  for (let presses = 0; presses < 60; presses += 1) {
    if (await ui.page.evaluate<boolean>(isThere)) return
    await ui.page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${selector}`)
}

test('an unticked file stays as it is', async () => {
  const { page } = ui
  await openRestore(target)
  await page.locator(`${DIALOG} [data-path="src/table.ts"]`).getByRole('checkbox').uncheck()
  expect(await applyButton(page).textContent()).toBe('Go back: 2 files')
  await applyPlan(page)
  expect(existsSync(inProject('src/table.ts'))).toBe(true)
  expect(existsSync(inProject('test/login.test.ts'))).toBe(false)
  await undoFromBar()
})

test('changes of the user stay, unless the switch is turned off', async () => {
  const { page } = ui
  const mine = '# Shop, by hand\n'
  const shop = textOf('README.md')
  writeFileSync(inProject('README.md'), mine)
  await openRestore(target)
  expect((await planRows(page)).find(({ path }) => path === 'README.md')?.action).toBe('keep')
  await page.getByRole('switch', { name: /Keep my changes/ }).uncheck()
  await expect
    .poll(async () => (await planRows(page)).find(({ path }) => path === 'README.md')?.action)
    .toBe('write')
  await page.keyboard.press('Escape')
  expect(textOf('README.md')).toBe(mine)
  writeFileSync(inProject('README.md'), shop)
})

test('a plan whose folder has changed is refused; the new plan is shown instead', async () => {
  const { page } = ui
  await openRestore(target)
  // The dialog checks its plan every few seconds: hold that, so that the button is pressed with the old plan.
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/api/plan', async (route) => {
    await held
    await route.continue()
  })
  const table = textOf('src/table.ts')
  writeFileSync(inProject('src/table.ts'), 'export const changed = true\n')
  const kept = textOf('src/table.ts')
  const answered = page.waitForResponse('**/api/apply')
  await applyButton(page).click()
  const answer = await answered
  expect(await answer.json()).toMatchObject({ error: { code: 'PLAN_STALE' } })
  release()
  await page.getByText('The folder has changed').waitFor()
  await page.unroute('**/api/plan')
  expect(textOf('src/table.ts')).toBe(kept)
  expect(textOf('src/utilities.ts')).toContain('value7 = 8')
  await page.keyboard.press('Escape')
  expect(ui.takeFaults()).toEqual([expect.stringContaining(`status of ${answer.status()}`)])
  writeFileSync(inProject('src/table.ts'), table)
})

test('something that no checkpoint has is in the way: nothing can be applied until it is moved', async () => {
  const { page } = ui
  const first = rowOf(ui.store, `You: ${PROMPTS.login}`).id
  mkdirSync(inProject('notes.txt'))
  writeFileSync(inProject('notes.txt/large.raw'), 'x'.repeat(11 * 1024 * 1024))
  await openRestore(first)
  await page.getByRole('switch', { name: /Keep my changes/ }).uncheck()
  const inTheWay = async () =>
    (await planRows(page)).filter(({ action }) => action === 'conflict').map(({ path }) => path)
  await expect.poll(inTheWay).toEqual(['notes.txt/large.raw'])
  expect(await applyButton(page).isEnabled()).toBe(false)
  rmSync(inProject('notes.txt'), { recursive: true })
  await expect.poll(() => applyButton(page).isEnabled()).toBe(true)
  const now = await planRows(page)
  expect(now.find(({ path }) => path === 'notes.txt')?.action).toBe('restore')
  expect(await inTheWay()).toEqual([])
  await page.keyboard.press('Escape')
})

test('files and conversation: the bar has the command that continues the conversation', async () => {
  const { page } = ui
  await openRestore(target)
  await page.getByRole('radio', { name: 'Files and conversation' }).check()
  await planShown(page)
  await applyPlan(page)
  expect(await undoBar(page).innerText()).toMatch(/claude --resume .* --fork-session/)
  await undoFromBar()
})

test('the bar goes when a terminal makes another rewind, which its Undo would take back', async () => {
  const { page } = ui
  await openRestore(target)
  await applyPlan(page)
  await undoBar(page).getByRole('button', { name: 'Undo' }).waitFor()
  const run = (...args: readonly string[]) =>
    expect(ui.store.run([...args, '--yes'])).toMatchObject({ code: 0 })
  run('rewind', rowOf(ui.store, `You: ${PROMPTS.login}`).id)
  await undoBar(page).waitFor({ state: 'detached' })
  run('undo')
  run('undo')
})

test('what no checkpoint has is named before the button can be pressed', async () => {
  const { page } = ui
  await openRestore(target)
  const text = await (await planShown(page)).innerText()
  expect(text).toContain('1 secret')
  expect(text).toContain('1 too large')
  await page.keyboard.press('Escape')
})
