// "Choose changes" in the preview of the restore dialog: only the ticked changes of one file go back.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { type Scratch, scratch } from '../../cli/program.js'
import { rowOf } from '../../support/agent-story.js'
import { axeInBothSchemes } from '../../support/browser/axe.js'
import { applyButton, applyPlan, planShown, undoBar } from '../../support/browser/restore-dialog.js'
import { useUi } from '../../support/browser/use-ui.js'

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index}`)
const textWith = (changed: Readonly<Record<number, string>>) =>
  LINES.map((line, index) => `${changed[index] ?? line}\n`).join('')
const CHANGED = textWith({ 1: 'first', 18: 'second' })

function makeStore(): Scratch {
  const s = scratch({ 'a.txt': textWith({}), 'b.txt': 'one\n' })
  s.json(['save', '-m', 'then'])
  return s
}

const ui = useUi(makeStore)
const file = (name: string) => readFileSync(join(ui.store.project, name), 'utf8')
beforeEach(() => ui.store.write({ 'a.txt': CHANGED, 'b.txt': 'two\n' }))

async function openChoice(page = ui.page): Promise<Locator> {
  await page.goto(new URL(`/c/${rowOf(ui.store, 'then').id}`, ui.server.origin).href)
  await page.getByRole('button', { name: 'Restore…' }).click()
  const dialog = await planShown(page)
  await dialog.locator('[data-path="a.txt"] button').click()
  await dialog.getByRole('button', { name: 'Choose changes' }).click()
  await dialog.getByRole('checkbox', { name: 'Change 2' }).waitFor()
  await planShown(page)
  return dialog
}

test('the ticked change goes back, the other change and the other file stay, and Undo works', async () => {
  const { page } = ui
  const dialog = await openChoice()
  await dialog.getByRole('checkbox', { name: 'Change 1' }).uncheck()
  await dialog.getByText(/rewind \w+ --patch --path a.txt$/).waitFor()
  await planShown(page)
  expect(await axeInBothSchemes(page)).toEqual([])
  await applyPlan(page)
  expect([file('a.txt'), file('b.txt')]).toEqual([textWith({ 1: 'first' }), 'two\n'])
  await undoBar(page).getByText('1 change of a.txt taken back.').waitFor()
  await undoBar(page).getByRole('button', { name: /^Undo/ }).click()
  await applyPlan(page)
  expect(file('a.txt')).toBe(CHANGED)
})

test('by keyboard: Space unticks, and without a tick nothing can be applied', async () => {
  const { page } = ui
  const dialog = await openChoice()
  for (const name of ['Change 1', 'Change 2']) {
    await expect
      .poll(async () => {
        await page.keyboard.press('Tab')
        return dialog.getByRole('checkbox', { name }).evaluate((box) => box.matches(':focus'))
      })
      .toBe(true)
    await page.keyboard.press('Space')
    await expect.poll(() => dialog.getByRole('checkbox', { name }).isChecked()).toBe(false)
  }
  await dialog.getByText('No change is ticked.').waitFor()
  expect(await applyButton(page).isDisabled()).toBe(true)
  await dialog.getByRole('button', { name: 'All files again' }).click()
  await dialog.locator('[data-path="b.txt"]').waitFor()
  await page.keyboard.press('Escape')
})

test('after a change of the file no change is ticked, because the numbers mean others now', async () => {
  const { page } = ui
  const dialog = await openChoice()
  ui.store.write({ 'a.txt': textWith({ 1: 'first', 10: 'third', 18: 'second' }) })
  await dialog.getByRole('checkbox', { name: 'Change 3' }).waitFor()
  await dialog.getByText('No change is ticked.').waitFor()
  await dialog.getByText('The file has changed: tick its changes again.').waitFor()
  expect(await dialog.getByRole('checkbox', { checked: true }).count()).toBe(0)
  expect(await applyButton(page).isDisabled()).toBe(true)
  ui.takeFaults()
  await page.keyboard.press('Escape')
})

const WIDEST = "document.querySelector('dialog').scrollWidth"

test('at 360 pixels the choice is not wider than the screen', async () => {
  const { page } = await ui.open({ viewport: { width: 360, height: 740 } })
  await openChoice(page)
  expect(await page.evaluate(WIDEST)).toBeLessThanOrEqual(360)
})
