// The conversation as a reader wants it.
import { expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import {
  agentStore,
  CLAUDE_SESSION,
  CODEX_SESSION,
  PROMPTS,
  SECRET,
} from '../support/browser/agent-store.js'
import { planShown } from '../support/browser/restore-dialog.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
const view = () => ui.page.locator('[data-view=session]')
const at = `/s/${CLAUDE_SESSION}`

test('sessions are listed by agent, and open by mouse', async () => {
  await ui.show('/sessions')
  for (const agent of ['claude', 'codex'])
    await ui.page.locator('main').getByText(agent).first().waitFor()
  await ui.page.locator(`main a[href*="${CODEX_SESSION}"]`).first().click()
  await view().waitFor()
  await view().getByText(PROMPTS.codex).first().waitFor()
})

test('prompts, answers, calls and folded thoughts; Markdown without HTML', async () => {
  await ui.show(at)
  const { page } = ui
  await page.getByRole('navigation', { name: 'Prompts' }).getByText(PROMPTS.login).click()
  await view().getByText('I will look at').first().waitFor()
  const code = view().locator('pre, code').getByText("await login('ada', 'ticket-of-ada')")
  await code.first().waitFor()
  expect(await view().getByText('I will add a ticket.').isVisible()).toBe(false)
  await view()
    .getByRole('button', { name: /thinking|thought/i })
    .first()
    .click()
  await view().getByText('I will add a ticket.').first().waitFor()
})

test('a failed call is open and says so; a long result is folded', async () => {
  await ui.show(at)
  const { page } = ui
  await page.getByRole('navigation', { name: 'Prompts' }).getByText(PROMPTS.login).click()
  const failed = view().locator('[data-outcome=failed]').first()
  await failed.getByText('✗ failed').waitFor()
  expect(await failed.innerText()).not.toContain('test 30: FAILED')
  await failed.getByRole('button', { name: /^show \d+ lines/ }).click()
  await failed.getByText('test 30: FAILED').first().waitFor()
})

test('secrets are masked until the reader asks; colors of the terminal are gone', async () => {
  await ui.show(at)
  const { page } = ui
  await page.getByRole('navigation', { name: 'Prompts' }).getByText('onerror').click()
  const card = view().locator('[data-kind=tool]', { hasText: 'rm notes.txt' }).first()
  await card.getByRole('button').first().click()
  await card.getByText('the key is').first().waitFor()
  expect(await card.innerText()).toContain('removed notes.txt')
  expect(await page.content()).not.toContain(SECRET)
  await page
    .getByRole('button', { name: /secret/i })
    .or(page.getByRole('switch', { name: /secret/i }))
    .or(page.getByRole('checkbox', { name: /secret/i }))
    .first()
    .click()
  await view().getByText(SECRET).first().waitFor()
})

test('links show their target, images and HTML are text', async () => {
  await ui.show(at)
  const { page } = ui
  await page.getByRole('navigation', { name: 'Prompts' }).getByText('onerror').click()
  await view().getByText('<b>bold</b>').first().waitFor()
  expect(await page.locator('main img').count()).toBe(0)
})

test('a subagent is a thread of its own', async () => {
  await ui.show(at)
  await view()
    .getByText(/subagent/i)
    .first()
    .waitFor()
})

test('checkpoints are between the items, with restore and fork', async () => {
  await ui.show(at)
  const { page } = ui
  const id = rowOf(ui.store, 'Bash: node generate.mjs > src/table.ts').id
  const line = view().locator(`[data-checkpoint="${id}"]`)
  await line.getByRole('button', { name: 'restore…' }).click()
  await planShown(page)
  await page.keyboard.press('Escape')
  await line.getByRole('button', { name: 'fork' }).click()
  await page.locator('dialog[data-dialog=fork]').waitFor()
  await page.keyboard.press('Escape')
})
