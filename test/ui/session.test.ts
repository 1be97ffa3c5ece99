// A session by mouse. conversation.test.ts has its items.
import { expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import {
  agentStore,
  CLAUDE_SESSION,
  CODEX_SESSION,
  PROMPTS,
} from '../support/browser/agent-store.js'
import { planShown } from '../support/browser/restore-dialog.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
const view = () => ui.page.locator('[data-view=session]')
const at = `/s/${CLAUDE_SESSION}`

test('sessions are listed by agent, and open by mouse', async () => {
  await ui.show('/sessions')
  const text = await ui.page.locator('[data-view=sessions]').innerText()
  for (const agent of ['claude', 'codex']) expect(text).toContain(agent)
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
    .getByRole('button', { name: /^thinking \d+ characters$/ })
    .first()
    .click()
  await view().getByText('I will add a ticket.').first().waitFor()
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
  const dialog = page.locator('dialog[data-dialog=fork]')
  expect(await dialog.innerText()).toContain('claude')
  await page.keyboard.press('Escape')
})

test('the last answer is shown, although no checkpoint has been made since', async () => {
  await ui.show(`/s/${CLAUDE_SESSION}`)
  await ui.page.getByText('Done: twelve tests, all green.').waitFor()
  expect(await ui.page.getByText('no result').count()).toBe(0)
})
