// The dialogs besides a plain restore: selections that outlive a plan, single files, conflicts, forks; search and store by hand.
import { EventEmitter, once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
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

const ui = useUi(agentStore)
const inProject = (path: string) => join(ui.store.project, path)
const idOf = (reason: string) => rowOf(ui.store, reason).id
const row = (path: string) => ui.page.locator(`${DIALOG} [data-path="${path}"]`)

async function openRestore(id: string): Promise<void> {
  await ui.show(`/c/${id}`)
  await ui.page.keyboard.press('r')
  await planShown(ui.page)
}

async function close(): Promise<void> {
  await ui.page.keyboard.press('Escape')
  await ui.page.locator(DIALOG).waitFor({ state: 'detached' })
}

async function undo(): Promise<void> {
  await undoBar(ui.page).getByRole('button', { name: 'Undo' }).click()
  await applyPlan(ui.page)
}

test('if the folder changes, the new plan is shown and keeps what was unticked', async () => {
  await openRestore(idOf(`You: ${PROMPTS.login}`))
  await row('src/sso.ts').getByRole('checkbox').uncheck()
  const before = await applyButton(ui.page).textContent()
  // A file that came later and is not the user's own would be removed; this one stays, so the number of files is the same.
  writeFileSync(inProject('fresh.txt'), 'fresh\n')
  await ui.page.getByText('The folder has changed: this is the new plan.').waitFor()
  await row('fresh.txt').waitFor()
  const rows = await planRows(ui.page)
  expect(rows.find(({ path }) => path === 'src/sso.ts')?.ticked).toBe(false)
  expect(rows.find(({ path }) => path === 'fresh.txt')?.action).toBe('keep')
  expect(await applyButton(ui.page).textContent()).toBe(before)
  await expect.poll(() => applyButton(ui.page).isEnabled()).toBe(true)
  await close()
  rmSync(inProject('fresh.txt'))
})

test('text that is selected past the edge does not close the dialog; a click outside does', async () => {
  const { page } = ui
  await openRestore(idOf(`You: ${PROMPTS.login}`))
  await page.locator(`${DIALOG} h2`).hover()
  await page.mouse.down()
  await page.mouse.move(2, 2)
  await page.mouse.up()
  await page.locator(`${DIALOG}[open]`).waitFor()
  await page.mouse.click(2, 2)
  await page.locator(DIALOG).waitFor({ state: 'detached' })
})

test('while a plan is applied, Escape does not hide the dialog', async () => {
  const { page } = ui
  await openRestore(idOf(`You: ${PROMPTS.tests}`))
  const released = new EventEmitter()
  await page.route('**/api/apply', async (route) => {
    await once(released, 'now')
    await route.continue()
  })
  await applyButton(page).click()
  await page.getByRole('button', { name: 'Going back …' }).waitFor()
  // The browser closes a dialog by itself at the second one.
  for (const key of ['Escape', 'Escape', 'Escape']) await page.keyboard.press(key)
  await page.locator(`${DIALOG}[open]`).waitFor()
  released.emit('now')
  await page.locator(DIALOG).waitFor({ state: 'detached' })
  await page.unroute('**/api/apply')
  await undo()
})

test('Back closes an open dialog, and the view before is usable', async () => {
  const { page } = ui
  await ui.show('/')
  await openRestore(idOf(`You: ${PROMPTS.login}`))
  await page.goBack()
  await page.locator('[data-view=timeline]').waitFor()
  await page.locator('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('j')
  await page.locator('[role=row]:focus').waitFor()
  await page.goForward()
  await page.locator('[data-view=checkpoint][data-state=ready]').waitFor()
  expect(await page.locator('dialog').count()).toBe(0)
})

test.each(['carried out', 'refused'] as const)(
  'Back during a restore closes its dialog, and a bar says how the restore ended: %s',
  async (how) => {
    const { page } = ui
    const released = new EventEmitter()
    await page.route('**/api/apply', async (route) => {
      await once(released, 'now')
      if (how === 'carried out') return route.continue()
      const error = { code: 'PLAN_STALE', message: 'The folder has changed', hint: null }
      return route.fulfill({ status: 409, json: { error } })
    })
    await ui.show('/')
    const link = page.locator(`[role=row][data-id="${idOf(`You: ${PROMPTS.tests}`)}"] a`)
    await link.first().click()
    await page.locator('[data-view=checkpoint][data-state=ready]').waitFor()
    await page.keyboard.press('r')
    await planShown(page)
    await expect.poll(() => applyButton(page).isEnabled()).toBe(true)
    await applyButton(page).click()
    await page.getByRole('button', { name: 'Going back …' }).waitFor()
    await page.goBack()
    await page.locator('[data-view=timeline]').waitFor()
    await page.locator(DIALOG).waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.locator('dialog[data-dialog=keys]').waitFor()
    released.emit('now')
    const bar = how === 'refused' ? page.locator('[data-bar=error]') : undoBar(page)
    await bar.waitFor()
    // The dialog that was opened meanwhile stays.
    await page.locator('dialog[data-dialog=keys][open]').waitFor()
    await page.keyboard.press('Escape')
    await page.unroute('**/api/apply')
    if (how === 'carried out') return undo()
    await bar.getByText('The folder has changed').waitFor()
    expect(ui.takeFaults().join()).toContain('409')
  },
)

test('a file of a diff is restored alone', async () => {
  const { page } = ui
  const now = readFileSync(inProject('src/login.ts'), 'utf8')
  await ui.show(`/c/${idOf('Edit src/login.ts')}`)
  await page.getByRole('button', { name: /^Restore this file/ }).click()
  await planShown(page)
  // It has not changed since the step.
  await page.getByText('Nothing to do: src/login.ts is as it was then.').waitFor()
  expect(await applyButton(page).isEnabled()).toBe(false)
  await page.getByRole('switch', { name: /Just before this step/ }).check()
  await expect.poll(() => applyButton(page).textContent()).toBe('Go back: 1 file')
  expect((await planRows(page)).filter(({ ticked }) => ticked).map(({ path }) => path)).toEqual([
    'src/login.ts',
  ])
  await applyPlan(page)
  await undoBar(page).getByText('1 file brought back.').waitFor()
  expect(readFileSync(inProject('src/login.ts'), 'utf8')).not.toBe(now)
  expect(existsSync(inProject('src/sso.ts'))).toBe(true)
  await undo()
  expect(readFileSync(inProject('src/login.ts'), 'utf8')).toBe(now)
})

test('a path that is in the way can be left out, and the rest goes back', async () => {
  const { page } = ui
  mkdirSync(inProject('notes.txt'))
  writeFileSync(inProject('notes.txt/large.raw'), 'x'.repeat(11 * 1024 * 1024))
  await openRestore(idOf(`You: ${PROMPTS.login}`))
  await page.getByRole('switch', { name: /Keep my changes/ }).uncheck()
  const conflict = row('notes.txt/large.raw')
  await conflict.waitFor()
  expect(await applyButton(page).isEnabled()).toBe(false)
  await conflict.getByRole('checkbox').uncheck()
  await expect.poll(() => applyButton(page).isEnabled()).toBe(true)
  await applyPlan(page)
  expect(existsSync(inProject('notes.txt/large.raw'))).toBe(true)
  expect(existsSync(inProject('src/sso.ts'))).toBe(false)
  await undo()
  expect(existsSync(inProject('src/sso.ts'))).toBe(true)
  rmSync(inProject('notes.txt'), { recursive: true })
})

test('in the list of files the arrow keys move, Space ticks and Enter shows the changes', async () => {
  const { page } = ui
  await openRestore(idOf(`You: ${PROMPTS.login}`))
  const ticked = (await planRows(page)).filter((one) => one.ticked).length
  await row('data.bin').getByRole('checkbox').focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Home')
  const at = () => page.evaluate('document.activeElement.closest("[data-index]").dataset.index')
  await expect.poll(at).toBe('0')
  await page.keyboard.press('ArrowDown')
  await expect.poll(at).toBe('1')
  await page.keyboard.press('Space')
  const label = await applyButton(page).textContent()
  expect(label).toBe(`Go back: ${ticked - 1} files`)
  await page.keyboard.press('Enter')
  await page.locator(`${DIALOG} [data-preview]`).waitFor()
  expect(await applyButton(page).textContent()).toBe(label)
  await close()
})

test('a fork of a conversation shows the command that continues the copy', async () => {
  const { page } = ui
  await ui.show(`/c/${idOf('Edit src/login.ts')}`)
  await page.getByRole('button', { name: /^Fork/ }).first().click()
  await page.getByRole('button', { name: 'Copy the conversation' }).click()
  const command = page.locator('dialog[data-dialog=fork] .command code')
  expect(await command.textContent()).toMatch(/^claude --resume .*\.jsonl --fork-session$/)
  await page.getByRole('button', { name: 'Done' }).click()
})

test('search by keyboard: j and k move between results, Enter opens one', async () => {
  const { page } = ui
  await ui.show('/search?q=login')
  await page.locator('.search-result').nth(1).waitFor()
  for (const key of ['j', 'j', 'k']) await page.keyboard.press(key)
  const first = await page.locator('.search-result').first().getAttribute('data-id')
  expect(await page.evaluate('document.activeElement.closest("li").dataset.id')).toBe(first)
  await page.keyboard.press('Enter')
  await page.locator('[data-view=checkpoint]').waitFor()
  expect(new URL(page.url()).pathname).toBe(`/c/${first}`)
})

test('search finds changed paths, and says that it searched everything', async () => {
  const { page } = ui
  await ui.show('/search?q=src/sso.ts')
  await page.getByText(/All \d+ checkpoints searched/).waitFor()
  expect(await page.locator('.search-result .search-paths').count()).toBeGreaterThan(0)
})

test('store: a prune is only previewed, and the check says that the store is intact', async () => {
  const { page } = ui
  await ui.show('/store')
  await page.getByLabel('Size limit in MB').fill('none')
  expect(await page.getByRole('button', { name: 'Preview' }).isEnabled()).toBe(false)
  await page.getByLabel('Size limit in MB').fill('1000')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('savestate prune --max-size-mb 1000').waitFor()
  await page.getByRole('button', { name: 'Check completely' }).click()
  await page.getByText(/checkpoints checked: the store is intact/).waitFor()
})
