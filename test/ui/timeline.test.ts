// The first view: sessions, prompts and steps, by mouse and by keyboard, and how it follows the store.
import { beforeAll, expect, test } from 'vitest'
import { claudePrompt, rowOf } from '../support/agent-story.js'
import { agentStore, CLAUDE_SESSION, NAME, PROMPTS } from '../support/browser/agent-store.js'
import { DIALOG, planShown } from '../support/browser/restore-dialog.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
const row = (id: string) => ui.page.locator(`[data-view=timeline] [role=row][data-id="${id}"]`)
const idOf = (reason: string) => rowOf(ui.store, reason).id
const selected = () => ui.page.locator('[data-view=timeline] [role=row][aria-selected=true]')
const selectedKey = () => selected().getAttribute('data-key')
let login = ''
let edit = ''
beforeAll(() => {
  login = idOf(`You: ${PROMPTS.login}`)
  edit = idOf('Edit src/login.ts')
})

test('prompts are cards with their steps, authors, figures and marks; nothing is by color alone', async () => {
  await ui.show('/')
  const card = row(login)
  expect(await card.getAttribute('data-turn')).toBe('1')
  const text = await card.innerText()
  for (const part of [PROMPTS.login, 'claude', '3 steps', 'pinned', 'you'])
    expect(text).toContain(part)
  const step = await row(edit).innerText()
  for (const part of ['Edit', 'src/login.ts', '+6', '−1', 'claude']) expect(step).toContain(part)
  await row(idOf('Bash: sed -i d src/utilities.ts')).getByText(NAME).waitFor()
  await ui.page.getByText('you are here').first().waitFor()
})

test('by mouse: a click opens the checkpoint, Back returns to the same place', async () => {
  const { page } = ui
  await ui.show('/')
  await row(edit).getByRole('link').first().click()
  await page.locator('[data-view=checkpoint][data-state=ready]').waitFor()
  expect(new URL(page.url()).pathname).toBe(`/c/${edit}`)
  await page.goBack()
  await row(edit).waitFor()
  await row(edit).hover()
  await row(edit).getByRole('button', { name: 'Restore…' }).click()
  await planShown(page)
  await page.keyboard.press('Escape')
  await page.locator(DIALOG).waitFor({ state: 'detached' })
})

test('a field that the user has chosen right after Back keeps the focus', async () => {
  const { page } = ui
  await ui.show('/')
  await row(edit).getByRole('link').first().click()
  await page.locator('[data-view=checkpoint][data-state=ready]').waitFor()
  await page.evaluate(`
    addEventListener('popstate', () => document.getElementById('search').focus(), { once: true })
    history.back()
  `)
  await row(edit).waitFor()
  // The view moves the focus one frame after it is drawn.
  for (let frame = 0; frame < 5; frame += 1)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
  expect(await page.locator('#search:focus').count()).toBe(1)
})

test('by keyboard: j and k move, Enter opens, r restores, ? lists the keys, / searches', async () => {
  const { page } = ui
  await ui.show('/')
  await focusList()
  const keys = [await move('j'), await move('j'), await move('j')]
  expect(new Set(keys).size).toBe(3)
  expect([await move('k'), await move('k')]).toEqual([keys[1], keys[0]])
  await moveTo(edit)
  await page.keyboard.press('r')
  await planShown(page)
  await page.keyboard.press('Escape')
  await page.locator(DIALOG).waitFor({ state: 'detached' })
  expect(await selected().getAttribute('data-id')).toBe(edit)
  await page.keyboard.press('Enter')
  await page.locator('[data-view=checkpoint]').waitFor()
  expect(new URL(page.url()).pathname).toBe(`/c/${edit}`)
  await page.goBack()
  await row(edit).waitFor()
  expect(await selected().getAttribute('data-id')).toBe(edit)
  await page.keyboard.press('?')
  const keysDialog = page.locator('dialog[data-dialog=keys]')
  await keysDialog.waitFor()
  await page.keyboard.press('Escape')
  await keysDialog.waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  await page.keyboard.type('table')
  await page.keyboard.press('Enter')
  await page.locator('[data-view=search]:not([data-state=loading])').waitFor()
})

/** The first key only gives the list the focus. */
async function focusList(): Promise<void> {
  await ui.page.keyboard.press('j')
  await ui.page.locator('[data-view=timeline] [role=row]:focus').waitFor()
}

/** Presses the key and waits until another row is selected, whose key it returns. */
async function move(key: 'j' | 'k'): Promise<string | null> {
  const before = await selectedKey()
  await ui.page.keyboard.press(key)
  await expect.poll(selectedKey).not.toBe(before)
  return selectedKey()
}

async function moveTo(id: string): Promise<void> {
  while ((await selected().getAttribute('data-id')) !== id) await move('j')
}

test('filters: by session and by author, and the address keeps them', async () => {
  const { page } = ui
  await ui.show(`/?session=${CLAUDE_SESSION}`)
  await row(edit).waitFor()
  expect(await row(idOf('Bash: sed -i d src/utilities.ts')).count()).toBe(0)
  await ui.show('/?author=codex')
  await row(idOf('Bash: sed -i d src/utilities.ts')).waitFor()
  expect(await row(edit).count()).toBe(0)
  await page.reload()
  await row(idOf('Bash: sed -i d src/utilities.ts')).waitFor()
  expect(await row(edit).count()).toBe(0)
})

test('hostile prompts are text, and invisible characters are shown', async () => {
  await ui.show('/')
  const card = row(idOf(`You: ${PROMPTS.hostile}`))
  const text = await card.innerText()
  expect(text).toContain(
    '<img src=x onerror=alert(1)> \\u202etxt.exe\\u202c <script>alert(2)</script>',
  )
  expect(await ui.page.locator('main img, main script').count()).toBe(0)
})

test('a new checkpoint appears by itself, and the selected row stays selected', async () => {
  const { page } = ui
  await ui.show('/')
  await page.locator('[data-live=on]').waitFor()
  await focusList()
  const before = await move('j')
  claudePrompt(ui.store, 'Asked while the page is open', { session_id: 'live-session' })
  await row(idOf('You: Asked while the page is open')).waitFor()
  expect(await selectedKey()).toBe(before)
})

test('the theme button changes the scheme, and the choice stays', async () => {
  const { page } = ui
  await ui.show('/')
  const theme = () => page.evaluate<string>('document.documentElement.dataset.theme')
  expect(await theme()).toBe('system')
  await page.getByRole('button', { name: /^Theme/ }).click()
  expect(await theme()).toBe('light')
  await page.reload()
  expect(await theme()).toBe('light')
})

test('at 360 pixels nothing is wider than the screen', async () => {
  const other = await ui.open({ viewport: { width: 360, height: 740 } })
  const widest = 'Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)'
  expect(await other.page.evaluate(widest)).toBeLessThanOrEqual(360)
})

test('the scrolling box is opaque: the browser moves what it has drawn instead of drawing it again', async () => {
  await ui.show('/')
  const style = `getComputedStyle(document.querySelector('.tl-scroller')).backgroundColor`
  // A color with an alpha channel would be `rgba(…)`.
  expect(await ui.page.evaluate(style)).toMatch(/^rgb\(\d+, \d+, \d+\)$/)
})
