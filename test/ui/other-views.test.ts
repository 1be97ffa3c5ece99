// Compare, the history of a file, search, the store.
import { beforeAll, expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import { agentStore, PROMPTS } from '../support/browser/agent-store.js'
import { axeViolations } from '../support/browser/axe.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
const view = (name: string) => ui.page.locator(`[data-view=${name}][data-state=ready]`)
let edit = ''
let table = ''
beforeAll(() => {
  edit = rowOf(ui.store, 'Edit src/login.ts').id
  table = rowOf(ui.store, 'Bash: node generate.mjs > src/table.ts').id
})

test('the navigation leads to every view, by mouse and by keyboard', async () => {
  const { page } = ui
  const views = [
    ['Sessions', 'sessions'],
    ['Files', 'file'],
    ['Compare', 'compare'],
    ['Store', 'store'],
    ['Timeline', 'timeline'],
  ] as const
  await ui.show('/')
  for (const press of ['click', 'Enter'] as const)
    for (const [label, name] of views) {
      const link = page
        .getByRole('navigation', { name: 'Views' })
        .getByRole('link', { name: label })
      if (press === 'click') await link.click()
      else {
        await link.focus()
        await page.keyboard.press('Enter')
      }
      await page.locator(`[data-view=${name}]:not([data-state=loading])`).waitFor()
      expect(await link.getAttribute('aria-current')).toBe('page')
    }
})

test('a mistyped address shows a message instead of a blank page', async () => {
  await ui.show('/')
  await ui.page.evaluate(`
    history.pushState(null, '', '/c/%zz')
    dispatchEvent(new PopStateEvent('popstate'))
  `)
  await ui.page.getByText('There is no such page').waitFor()
  expect(await axeViolations(ui.page)).toEqual([])
})

test('compare: the files that differ between two checkpoints, with their diff', async () => {
  await ui.show(`/compare?a=${edit}&b=${table}`)
  await ui.page.locator('[data-view=compare] [data-line]').first().waitFor()
  const text = await view('compare').innerText()
  for (const path of ['table.ts', 'login.test.ts', 'logo.png']) expect(text).toContain(path)
})

test('file history: every version with author and prompt; also of a removed file', async () => {
  const { page } = ui
  await ui.show('/files?path=src/login.ts')
  await view('file').waitFor()
  const text = await view('file').innerText()
  for (const part of ['claude', 'Edit src/login.ts']) expect(text).toContain(part)
  await ui.show('/files?path=notes.txt')
  await view('file').locator('.version-row').getByText('removed', { exact: true }).waitFor()
  await page.locator('main').getByText('rm notes.txt').first().waitFor()
})

test('search finds prompts, calls and paths, and Enter or a click opens a result', async () => {
  const { page } = ui
  await ui.show('/search?q=login')
  const text = async () => ui.page.locator('[data-view=search]').innerText()
  for (const found of [PROMPTS.tests, 'src/login.ts']) await expect.poll(text).toContain(found)
  await page.keyboard.press('j')
  await page.locator('[data-view=search] a:focus').waitFor()
  await page.keyboard.press('Enter')
  await page.locator('[data-view=checkpoint]').waitFor()
  await ui.show('/search?q=table')
  await page.locator(`.search-result[data-id="${table}"] a`).click()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/c/${table}`)
  await ui.show('/search?q=nothing-has-these-words')
  await page.locator('[data-view=search][data-state=empty]').waitFor()
})

test('store: sizes, projects, what a prune would remove, health', async () => {
  const { page } = ui
  await ui.show('/store')
  await view('store').waitFor()
  const text = await view('store').innerText()
  expect(text).toContain(ui.store.project)
  for (const word of [/prune/i, /claude/i, /Background process/]) expect(text).toMatch(word)
  await page.getByRole('button', { name: 'Check quickly' }).click()
  await page.getByText(/^✓ \d+ checkpoints checked quickly: the store is intact\.$/).waitFor()
})
