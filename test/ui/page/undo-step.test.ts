// "Undo this step" takes back one step through the restore dialog, with a choice for files that cannot be merged.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type Scratch, scratch } from '../../cli/program.js'
import { claudePrompt, claudeShell, rowOf } from '../../support/agent-story.js'
import { axeInBothSchemes } from '../../support/browser/axe.js'
import {
  applyButton,
  applyPlan,
  DIALOG,
  planRows,
  planShown,
  undoBar,
} from '../../support/browser/restore-dialog.js'
import { useUi } from '../../support/browser/use-ui.js'

const STEP = "sed -i 's/one/step/' clean.txt both.txt"
const THEN = 'one\ntwo\nthree\nfour\nfive\n'
const LATER = THEN.replace('one', 'step').replace('five', 'later')
const MINE = THEN.replace('one', 'mine')

function makeStore(): Scratch {
  const s = scratch({ 'clean.txt': THEN, 'both.txt': THEN })
  claudePrompt(s, 'Change the files')
  claudeShell(s, STEP)
  return s
}

const ui = useUi(makeStore)
const CHOICE = 'Files that cannot be merged'
const file = (name: string) => readFileSync(join(ui.store.project, name), 'utf8')
let step = ''
beforeAll(() => {
  step = rowOf(ui.store, `Bash: ${STEP}`).id
})
beforeEach(() => ui.store.write({ 'clean.txt': LATER, 'both.txt': MINE }))

test('by mouse: a conflict undoes nothing until the user chooses, and the bar undoes it all', async () => {
  const { page } = ui
  await ui.show(`/c/${step}`)
  await page.getByRole('button', { name: 'Undo this step' }).click()
  const dialog = await planShown(page)
  await dialog.getByRole('heading', { name: /^Undo only “Bash: sed/ }).waitFor()
  expect(await planRows(page)).toEqual([
    { action: 'conflict', path: 'both.txt', ticked: true },
    { action: 'write', path: 'clean.txt', ticked: true },
  ])
  await dialog.getByText('1 written · 1 in conflict').waitFor()
  await dialog.getByText('the same lines were changed since').waitFor()
  await dialog.getByText(/^One path cannot be merged with what was changed since/).waitFor()
  expect(await applyButton(page).isDisabled()).toBe(true)
  await dialog.locator('[data-path="clean.txt"] button').click()
  await dialog.locator('[data-preview] [data-kind=added]').getByText('step').waitFor()
  expect(await axeInBothSchemes(page)).toEqual([])

  await dialog.getByRole('button', { name: 'Close the difference' }).click()
  await dialog.getByLabel(CHOICE).selectOption('markers')
  await dialog.getByText('has conflict markers').waitFor()
  await dialog.getByText(/undo \w+ --conflict=markers$/).waitFor()
  await applyPlan(page)
  expect(file('clean.txt')).toBe(THEN.replace('five', 'later'))
  expect(file('both.txt')).toMatch(/^<<<<<<< now\nmine\n/)
  const bar = undoBar(page)
  await bar
    .getByText('The step was undone: 2 files changed. 1 file has conflict markers: edit it.')
    .waitFor()
  await bar.getByRole('button', { name: /^Undo/ }).click()
  await applyPlan(page)
  expect([file('clean.txt'), file('both.txt')]).toEqual([LATER, MINE])
})

test('by keyboard: U opens the dialog on the timeline and on the checkpoint, and arrows choose', async () => {
  const { page } = ui
  await ui.show('/')
  await page.locator(`[role=row][data-id="${step}"]`).focus()
  await page.locator(`[role=row][data-id="${step}"][aria-selected=true]`).waitFor()
  await page.keyboard.press('U')
  await planShown(page)
  await page.keyboard.press('Escape')
  await page.locator(DIALOG).waitFor({ state: 'detached' })

  await ui.show(`/c/${step}`)
  await page.keyboard.press('U')
  const dialog = await planShown(page)
  await dialog.getByLabel(CHOICE).waitFor()
  await page.keyboard.press('Tab')
  await dialog.locator('select:focus').waitFor()
  await page.keyboard.press('ArrowDown')
  await dialog.locator('[data-action=keep]').waitFor()
  await dialog.locator('select:focus').waitFor()
  await planShown(page)
  await applyButton(page).focus()
  await page.keyboard.press('Enter')
  await page.locator(DIALOG).waitFor({ state: 'detached' })
  expect([file('clean.txt'), file('both.txt')]).toEqual([THEN.replace('five', 'later'), MINE])
})

test('a file that changes while the dialog is open gives a new plan', async () => {
  const { page } = ui
  ui.store.write({ 'both.txt': THEN })
  await ui.show(`/c/${step}`)
  await page.getByRole('button', { name: 'Undo this step' }).click()
  const dialog = await planShown(page)
  expect(await dialog.getByLabel(CHOICE).count()).toBe(0)
  ui.store.write({ 'both.txt': MINE })
  await dialog.getByText('The folder has changed: this is the new plan.').waitFor()
  await dialog.getByLabel(CHOICE).waitFor()
  expect(await applyButton(page).isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
})

const WIDEST =
  "Math.max(...[...document.querySelectorAll('dialog *')].map((one) => one.getBoundingClientRect().right))"

test('at 360 pixels nothing of the dialog is wider than the screen', async () => {
  const { page } = await ui.open({ viewport: { width: 360, height: 740 } })
  await page.goto(new URL(`/c/${step}`, ui.server.origin).href)
  await page.getByRole('button', { name: 'Undo this step' }).click()
  await (await planShown(page)).getByLabel(CHOICE).waitFor()
  expect(await page.evaluate(WIDEST)).toBeLessThanOrEqual(360)
})
