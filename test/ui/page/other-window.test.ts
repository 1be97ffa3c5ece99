// The user edits files in another window, or loads the page again.
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../../cli/program.js'
import { claudePrompt, claudeShell, rowOf } from '../../support/agent-story.js'
import { applyPlan, undoBar } from '../../support/browser/restore-dialog.js'
import { ready, useUi } from '../../support/browser/use-ui.js'

function makeStore(): Scratch {
  const s = scratch({ 'a.txt': 'one\n' })
  claudePrompt(s, 'Change the file')
  claudeShell(s, 'echo two > a.txt')
  return s
}

const ui = useUi(makeStore)
const edit = () => rowOf(ui.store, 'Bash: echo two > a.txt').id
const comeBack = () => ui.page.evaluate("dispatchEvent(new Event('focus'))")

test.each([
  ['since then', () => `/c/${edit()}?tab=since`, 'Nothing changed since then'],
  ['compare with now', () => `/compare?a=${edit()}`, 'A and B have the same files'],
])('%s follows an edit by hand when the window has the focus again', async (_what, path, same) => {
  ui.store.write({ 'a.txt': 'two\n' })
  await ui.show(path())
  await ui.page.getByText(same).waitFor()
  for (const word of ['three', 'four']) {
    ui.store.write({ 'a.txt': `${word}\n` })
    await comeBack()
    const added = ui.page.locator('[data-kind=added] .diff-code')
    await expect.poll(() => added.allInnerTexts()).toEqual([word])
  }
})

test('the bar stays when the page is loaded again, until its Undo would undo another rewind', async () => {
  const { page, store } = ui
  store.write({ 'a.txt': 'two\n' })
  const prompt = rowOf(store, 'You: Change the file').id
  await ui.show(`/c/${prompt}`)
  await page.getByRole('button', { name: 'Restore…' }).click()
  await applyPlan(page)
  const text = await undoBar(page).locator('p').innerText()
  for (const load of [() => page.reload(), () => ui.show('/')]) {
    await load()
    await ready(page)
    expect(await undoBar(page).locator('p').innerText()).toBe(text)
  }
  await undoBar(page).getByRole('button', { name: 'Undo' }).waitFor()
  const left = page.url()
  await page.goto('about:blank')
  expect(store.run(['undo', '--yes'])).toMatchObject({ code: 0 })
  await page.goto(left)
  await ready(page)
  await undoBar(page).waitFor({ state: 'detached' })
  await page.reload()
  await page.locator('[data-live=on]').waitFor()
  expect(await undoBar(page).count()).toBe(0)
})

test('a bar that the user has closed does not come back', async () => {
  const { page, store } = ui
  expect(store.run(['rewind', rowOf(store, 'You: Change the file').id, '--yes']).code).toBe(0)
  await ui.show('/')
  await page.keyboard.press('u')
  await applyPlan(page)
  await undoBar(page).getByRole('button', { name: 'Close' }).click()
  await page.reload()
  await page.locator('[data-live=on]').waitFor()
  expect(await undoBar(page).count()).toBe(0)
})
