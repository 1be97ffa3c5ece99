// The small dialogs, by mouse and by keyboard: name, pin, fork, the list of keys.
import { beforeAll, expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import { agentStore } from '../support/browser/agent-store.js'
import { axeViolations } from '../support/browser/axe.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
const dialog = (name: string) => ui.page.locator(`dialog[data-dialog=${name}]`)
const row = (id: string) => ui.page.locator(`[data-view=timeline] [role=row][data-id="${id}"]`)
const shown = (id: string) =>
  ui.store.json(['show', id]) as { readonly name: string | null; readonly pinned: boolean }
let edit = ''
beforeAll(() => {
  edit = rowOf(ui.store, 'Edit src/login.ts').id
})

/** Selects the row of the timeline without opening it. */
async function select(id: string): Promise<void> {
  await ui.show('/')
  await row(id).focus()
  await ui.page.locator(`[role=row][data-id="${id}"][aria-selected=true]`).waitFor()
}

test('name, by keyboard: n opens the dialog, Enter saves, and the timeline shows it', async () => {
  const { page } = ui
  await select(edit)
  await page.keyboard.press('n')
  await dialog('name').locator('input:focus').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.type('works-with-sso')
  await page.keyboard.press('Enter')
  await dialog('name').waitFor({ state: 'detached' })
  await row(edit).getByText('works-with-sso').waitFor()
  expect(shown(edit).name).toBe('works-with-sso')
})

test('name, by mouse: a name that is refused says why; the name can be removed', async () => {
  const { page } = ui
  await ui.show(`/c/${edit}`)
  await page.getByRole('button', { name: 'Rename' }).click()
  await dialog('name').getByRole('textbox').fill('-n')
  await dialog('name').getByRole('button', { name: 'Save' }).click()
  await dialog('name').getByRole('alert').getByText(/\S/).waitFor()
  expect(ui.takeFaults()).toEqual([expect.stringContaining('status of 400')])
  await dialog('name').getByRole('button', { name: 'Remove the name' }).click()
  await dialog('name').waitFor({ state: 'detached' })
  expect(shown(edit).name).toBe(null)
})

test('pin and unpin, by keyboard and by mouse', async () => {
  const { page } = ui
  await select(edit)
  await page.keyboard.press('p')
  await row(edit).getByText('pinned').waitFor()
  expect(shown(edit).pinned).toBe(true)
  await ui.show(`/c/${edit}`)
  await page.getByRole('button', { name: 'Unpin' }).click()
  await page.getByRole('button', { name: 'Pin', exact: true }).waitFor()
  expect(shown(edit).pinned).toBe(false)
})

test('fork: the command that continues a copy of the conversation', async () => {
  const { page } = ui
  await select(edit)
  await page.keyboard.press('f')
  await dialog('fork').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog('fork').waitFor({ state: 'detached' })
  await ui.show(`/c/${edit}`)
  await page.getByRole('button', { name: /^Fork/ }).click()
  await dialog('fork').getByRole('button', { name: 'Copy the conversation' }).click()
  await dialog('fork')
    .getByText(/claude --resume .* --fork-session/)
    .first()
    .waitFor()
  await dialog('fork').getByRole('button', { name: 'Done' }).click()
  await dialog('fork').waitFor({ state: 'detached' })
})

test('the list of keys opens by ? and by its button, and returns the focus', async () => {
  const { page } = ui
  await select(edit)
  await page.keyboard.press('?')
  const keys = await dialog('keys').innerText()
  for (const label of ['Restore…', 'Name', 'Search']) expect(keys).toContain(label)
  await page.keyboard.press('Escape')
  await dialog('keys').waitFor({ state: 'detached' })
  await page.locator(`[role=row][data-id="${edit}"]:focus`).waitFor()
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await dialog('keys').getByRole('button', { name: 'Close' }).click()
  await dialog('keys').waitFor({ state: 'detached' })
})
