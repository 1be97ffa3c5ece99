// The sessions of a project and the conversation of one, in a real browser over a store made by the real program.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import { agentStore, CLAUDE_SESSION, PROMPTS, SECRET } from '../support/browser/agent-store.js'
import { ClaudeTranscript } from '../support/browser/claude-transcript.js'
import { DIALOG, planShown } from '../support/browser/restore-dialog.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
const text = (selector: string) => ui.page.locator(selector).first().innerText()
const card = (call: string | RegExp) =>
  ui.page.locator('.tool', { has: ui.page.getByRole('button', { name: call }) })

test('the list has the sessions, last used first, and opens one by keyboard', async () => {
  await ui.show('/sessions')
  const links = ui.page.locator('[data-view=sessions] a.session-link')
  expect(await links.allInnerTexts()).toEqual([PROMPTS.codex, PROMPTS.login])
  expect(await text('[data-session] .session-facts')).toMatch(/^codex\s+open\s+1 prompt\s+2 steps$/)
  await ui.page.keyboard.press('j')
  await ui.page.keyboard.press('j')
  await ui.page.keyboard.press('Enter')
  await ui.page.locator('[data-view=session][data-state=ready]').waitFor()
  expect(new URL(ui.page.url()).pathname).toBe(`/s/${CLAUDE_SESSION}`)
})

test('a conversation opens at its end; the outline leads to each prompt', async () => {
  await ui.show(`/s/${CLAUDE_SESSION}`)
  await ui.page.getByText('End of the conversation').waitFor()
  const prompts = ui.page.getByRole('navigation', { name: 'Prompts' }).getByRole('button')
  expect(await prompts.allInnerTexts()).toEqual([
    `1 ${PROMPTS.login}`,
    '2 <img src=x onerror=alert(1)> \\u202etxt.exe\\u202c <script>alert(2)</script>\\u0007',
    `3 ${PROMPTS.tests}`,
  ])
  await prompts.first().click()
  const first = ui.page.locator('[data-item="0"]:focus')
  await first.locator('[data-kind=prompt]', { hasText: PROMPTS.login }).waitFor()
})

test('a call has its result in its card; an error is open, everything else is folded', async () => {
  await ui.show(`/s/${CLAUDE_SESSION}?at=0`)
  const failed = card('Bash npm test')
  await failed.getByText('✗ failed').waitFor()
  await failed.getByRole('button', { name: 'show 32 lines' }).click()
  await failed.getByText('test 30: FAILED').waitFor()
  const edit = card(/^Edit .*src\/login\.ts/)
  expect(await edit.locator('pre').count()).toBe(0)
  await edit.getByRole('button').first().click()
  await edit.getByText('has been updated').first().waitFor()
})

test('secrets are masked until the switch is used; a cut text loads its rest', async () => {
  await ui.show(`/s/${CLAUDE_SESSION}`)
  const removed = card('Bash rm notes.txt')
  await removed.getByText('the key is ••••••').waitFor()
  expect(await ui.page.content()).not.toContain(SECRET)
  await ui.page.getByRole('checkbox', { name: 'show secrets' }).check()
  await removed.getByText(SECRET).waitFor()
  const art = card('Bash make logo')
  await art.getByRole('button').first().click()
  await art.getByRole('button', { name: 'show more' }).click()
  await expect.poll(async () => (await art.locator('pre').last().innerText()).length).toBe(40_000)
})

test('a subagent is one line that opens', async () => {
  await ui.show(`/s/${CLAUDE_SESSION}`)
  const run = ui.page.getByRole('button', { name: 'subagent Write tests for src/login.ts' })
  expect(await ui.page.locator('[data-nested] .said').count()).toBe(0)
  await run.click()
  await ui.page.locator('[data-nested]', { hasText: 'The tests are written.' }).first().waitFor()
  await run.click()
  await expect.poll(() => ui.page.locator('[data-nested] .said').count()).toBe(0)
})

test('checkpoint lines restore and open; keys act on the nearest checkpoint', async () => {
  await ui.show(`/s/${CLAUDE_SESSION}`)
  const line = ui.page.locator('.checkpoint-line', { hasText: 'Bash: rm notes.txt' })
  await line.getByRole('button', { name: 'restore…' }).click()
  await ui.page.locator('dialog[data-dialog=restore]').waitFor()
  await ui.page.keyboard.press('Escape')
  const id = await line.getAttribute('data-checkpoint')
  await line.getByRole('link', { name: 'open' }).click()
  await expect.poll(() => new URL(ui.page.url()).pathname).toBe(`/c/${id}`)
  await ui.show(`/s/${CLAUDE_SESSION}?at=${id}`)
  await ui.page.locator('.feed-item:focus').waitFor()
  await ui.page.keyboard.press('K')
  await ui.page.locator('.feed-item:focus', { hasText: 'onerror' }).waitFor()
  await ui.page.keyboard.press('r')
  await planShown(ui.page)
  const title = await ui.page.locator(`${DIALOG} h2`).innerText()
  expect(title).toContain('txt.exe')
  await ui.page.keyboard.press('Escape')
  await ui.page.keyboard.press('o')
  const nearest = rowOf(ui.store, `You: ${PROMPTS.hostile}`).id
  await expect.poll(() => new URL(ui.page.url()).pathname).toBe(`/c/${nearest}`)
})

test('hostile text stays text, and a link opens only after its target was shown', async () => {
  await ui.show(`/s/${CLAUDE_SESSION}`)
  const answer = ui.page.locator('.markdown', { hasText: '<b>bold</b>' })
  await answer.waitFor()
  expect(await answer.locator('b, img, a').count()).toBe(0)
  await answer.getByRole('button', { name: 'a link' }).click()
  const link = answer.getByRole('link', { name: 'open' })
  expect(await link.getAttribute('href')).toBe('https://example.com/x')
  expect(await link.getAttribute('rel')).toBe('noreferrer noopener')
})

test('the view follows a conversation at its end, and says so elsewhere', async () => {
  await ui.show(`/s/${CLAUDE_SESSION}`)
  await ui.page.getByText('End of the conversation').waitFor()
  ask('p-4', 'Now the documentation')
  await ui.page.locator('[data-kind=prompt]', { hasText: 'Now the documentation' }).waitFor()
  await ui.page.getByText('End of the conversation').waitFor()
  await ui.page.getByRole('navigation', { name: 'Prompts' }).getByText(PROMPTS.login).click()
  await ui.page.locator('[data-item="0"]:focus').waitFor()
  ask('p-5', 'And the changelog')
  await ui.page.getByRole('button', { name: 'new messages' }).click()
  await ui.page.locator('[data-kind=prompt]', { hasText: 'And the changelog' }).waitFor()
  expect(await ui.page.getByRole('button', { name: 'new messages' }).count()).toBe(0)
})

/** Claude Code writes a prompt, and its hooks report it and an edit. */
function ask(promptId: string, prompt: string): void {
  const { project, folder } = ui.store
  const path = join(folder, 'user', `${CLAUDE_SESSION}.jsonl`)
  const transcript = new ClaudeTranscript(CLAUDE_SESSION, project, Date.now())
  appendFileSync(path, `${JSON.stringify(transcript.prompt(promptId, prompt))}\n`)
  const input = { file_path: join(project, 'docs.md') }
  const fields = {
    session_id: CLAUDE_SESSION,
    transcript_path: path,
    cwd: project,
    prompt_id: promptId,
  }
  const call = { tool_name: 'Write', tool_input: input, tool_use_id: `toolu_${promptId}` }
  const hook = (event: string, more: Readonly<Record<string, unknown>>) =>
    ui.store.run(['hook', 'claude', event], {
      input: JSON.stringify({ ...fields, hook_event_name: event, ...more }),
    })
  hook('UserPromptSubmit', { prompt })
  hook('PreToolUse', call)
  ui.store.write({ 'docs.md': `${prompt}\n` })
  hook('PostToolUse', { ...call, tool_response: {} })
}

test('an answer that no hook has reported appears by itself', async () => {
  await ui.show(`/s/${CLAUDE_SESSION}`)
  await ui.page.getByText('End of the conversation').waitFor()
  const path = join(ui.store.folder, 'user', `${CLAUDE_SESSION}.jsonl`)
  const transcript = new ClaudeTranscript(CLAUDE_SESSION, ui.store.project, Date.now())
  for (const answer of ['The changelog is written.', 'And it is short.']) {
    appendFileSync(path, `${JSON.stringify(transcript.text(answer))}\n`)
    await ui.page.locator('.markdown', { hasText: answer }).waitFor()
  }
})

test('a session that does not exist is an error with its code', async () => {
  await ui.show('/s/no-such-session')
  expect(await text('[data-view=session] .code')).toBe('SESSION_UNKNOWN')
  ui.takeFaults()
})
