// The page of a store that is empty, damaged or without a key, of a read-only server, and of one that has ended.
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { type Scratch, PROGRAM, scratch } from '../cli/program.js'
import { claudePrompt, rowsOf, SESSION } from '../support/agent-story.js'
import { axeInBothSchemes } from '../support/browser/axe.js'
import { openGuarded } from '../support/browser/guarded-page.js'
import { applyButton, planShown } from '../support/browser/restore-dialog.js'
import { damagedStore, encryptedStore } from '../support/browser/scratch-stores.js'
import { type UiServer, startUi } from '../support/browser/ui-server.js'
import { ready } from '../support/browser/use-ui.js'

type Case = {
  readonly page: Page
  readonly server: UiServer
  readonly show: (path: string) => Promise<void>
}

/** Returns the complaints of axe at the end, and the faults of the page except `expected` ones. */
async function withPage(
  s: Scratch,
  { args = [], expected }: { readonly args?: readonly string[]; readonly expected?: RegExp },
  work: (ui: Case) => Promise<void>,
): Promise<readonly string[]> {
  const { project, environment } = s
  await using server = await startUi({ program: PROGRAM, project, environment, args })
  await using guarded = await openGuarded(server.url)
  const { page } = guarded
  await ready(page)
  const show = async (path: string) => {
    await page.goto(new URL(path, server.origin).href)
    await ready(page)
  }
  await work({ page, server, show })
  const faults = guarded.takeFaults().filter((fault) => expected?.test(fault) !== true)
  return [...faults, ...(await axeInBothSchemes(page))]
}

test('an empty store says how to begin', async () => {
  using s = scratch({ 'a.txt': 'a\n' })
  const faults = await withPage(s, {}, async ({ page, show }) => {
    await page.locator('[data-view=timeline][data-state=empty]').waitFor()
    await page.getByText('savestate install').first().waitFor()
    for (const [path, sentence] of [
      ['/sessions', 'No sessions yet'],
      ['/files', 'Every version of a file'],
      ['/compare', 'There is nothing to compare'],
      ['/search?q=x', 'Nothing found'],
      ['/store', 'No project has a checkpoint yet'],
    ] as const) {
      await show(path)
      await page.locator('main').getByText(sentence).waitFor()
    }
    await show('/')
  })
  expect(faults).toEqual([])
})

test('the first checkpoint of an empty project appears without a reload', async () => {
  using s = scratch({ 'a.txt': 'a\n' })
  const faults = await withPage(s, {}, async ({ page }) => {
    await page.locator('[data-view=timeline][data-state=empty]').waitFor()
    claudePrompt(s, 'The first prompt')
    await page.getByText('The first prompt').first().waitFor()
  })
  expect(faults).toEqual([])
})

test('a damaged checkpoint is marked and says what is lost; the others work', async () => {
  using s = damagedStore()
  const [damaged, whole] = rowsOf(s)
  // Its diff cannot be made; the browser logs the answer.
  const faults = await withPage(s, { expected: /status of 409/ }, async ({ page, show }) => {
    await page
      .locator(`[role=row][data-id="${damaged?.id}"]`)
      .getByText(/damaged/i)
      .waitFor()
    await show(`/c/${damaged?.id}`)
    await page.getByText('lost.txt').first().waitFor()
    await page
      .getByText(/damaged/i)
      .first()
      .waitFor()
    await show(`/c/${whole?.id}`)
    await page.locator('[data-view=checkpoint][data-state=ready]').waitFor()
    await page.getByText('kept.txt').first().waitFor()
    await show('/store')
    await page.getByRole('button', { name: 'Check completely' }).click()
    await page.getByText(/^✗ \d+ checkpoints checked: \d+ problems?\.$/).waitFor()
    await page.locator('.store-findings .store-problems', { hasText: 'lost.txt' }).waitFor()
  })
  expect(faults).toEqual([])
})

test('an encrypted conversation without its key is a sentence, not an error', async () => {
  using s = encryptedStore()
  const faults = await withPage(s, {}, async ({ page, show }) => {
    await show(`/s/${SESSION}`)
    await page.getByText('The conversation cannot be shown').waitFor()
    await page.getByText(/ is encrypted\b/).waitFor()
    expect(await page.getByText('A secret prompt').count()).toBe(0)
  })
  expect(faults).toEqual([])
})

test('a read-only page shows plans and has no button that changes something', async () => {
  using s = scratch({ 'a.txt': 'a\n' })
  claudePrompt(s, 'Change nothing')
  s.write({ 'a.txt': 'b\n' })
  const [row] = rowsOf(s)
  const faults = await withPage(s, { args: ['--read-only'] }, async ({ page, show }) => {
    await show(`/c/${row?.id}`)
    await page.locator('.badge', { hasText: 'read-only' }).waitFor()
    await page.keyboard.press('r')
    const dialog = await planShown(page)
    await dialog.getByText('This page is read-only').waitFor()
    expect(await applyButton(page).count()).toBe(0)
    await page.keyboard.press('Escape')
    await show('/')
    await page.keyboard.press('j')
    await page.locator('[role=row]:focus').waitFor()
    await page.keyboard.press('j')
    await page.locator(`[role=row][data-id="${row?.id}"]:focus`).waitFor()
    await page.keyboard.press('r')
    await planShown(page)
    await page.keyboard.press('Escape')
    await page
      .locator(`[role=row][data-id="${row?.id}"]`)
      .getByRole('button', { name: 'Show plan' })
      .click()
    await planShown(page)
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    const keys = await page.locator('dialog[data-dialog=keys] dd').allInnerTexts()
    expect(keys).toContain('Show plan')
    for (const label of ['Name', 'Pin or unpin', 'Fork the session', 'Undo the last rewind'])
      expect(keys).not.toContain(label)
  })
  expect(faults).toEqual([])
  expect(rowsOf(s)).toHaveLength(1)
})

test('if the server ends, the page says so and keeps what it has', async () => {
  using s = scratch({ 'a.txt': 'a\n' })
  claudePrompt(s, 'Before the end')
  const faults = await withPage(s, { expected: /ERR_/ }, async ({ page, server }) => {
    await page.locator('[data-live=on]').waitFor()
    expect(await server.stop('SIGINT')).toBe(0)
    await page.locator('[data-live=off]').waitFor()
    await page.locator('[data-bar=gone]').getByText('savestate ui', { exact: true }).waitFor()
    await page.getByText('Before the end').first().waitFor()
  })
  expect(faults).toEqual([])
})
