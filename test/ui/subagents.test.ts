// Conversations of subagents in files of their own, in a real browser over a store made by the real program.
import { appendFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../cli/program.js'
import { axeInBothSchemes } from '../support/browser/axe.js'
import { browser } from '../support/browser/browser.js'
import { useUi } from '../support/browser/use-ui.js'
import {
  CLAUDE,
  type ClaudeFiles,
  CODEX,
  type CodexFiles,
  SECRET,
  writeClaudeFiles,
  writeCodexFiles,
} from '../support/browser/subagent-files.js'

let claude: ClaudeFiles
let codex: CodexFiles

/** A subagent of Claude Code still works; one of Codex has ended. */
function makeStore(): Scratch {
  const s = scratch({ 'package.json': '{}' })
  claude = writeClaudeFiles(join(s.folder, 'user/.claude/projects/p'))
  codex = writeCodexFiles(join(s.folder, 'user/.codex/sessions'))
  const hook = (agent: string, payload: Readonly<Record<string, unknown>>) => {
    const fields = { cwd: s.project, hook_event_name: 'UserPromptSubmit', ...payload }
    const { code, stderr } = s.run(['hook', agent, 'UserPromptSubmit'], {
      input: JSON.stringify(fields),
    })
    if (code !== 0 || stderr !== '') throw new Error(`hook failed: ${stderr}`)
  }
  hook('claude', {
    session_id: CLAUDE.session,
    transcript_path: claude.transcript,
    prompt_id: 'p-1',
    prompt: 'Let a subagent write the greeting',
  })
  hook('codex', {
    session_id: CODEX.session,
    transcript_path: codex.transcript,
    turn_id: 't-1',
    prompt: 'Let a subagent clean up',
  })
  return s
}

const ui = useUi(makeStore)
const outer = () => ui.page.locator('.feed-item > .subagent')
const head = { name: 'subagent its conversation' }

test('a subagent is folded under its call, follows its file, and nests its own', async () => {
  await ui.show(`/s/${CLAUDE.session}`)
  const card = ui.page.locator('.feed-item', { has: ui.page.locator('.subagent') })
  await card.locator('.tool', { hasText: 'Agent' }).waitFor()
  expect(await outer().locator('.said').count()).toBe(0)
  await outer().getByRole('button', head).click()
  const prompt = outer().locator('[data-kind=prompt]', { hasText: 'Write s.txt' })
  await prompt.locator('.author', { hasText: 'claude' }).waitFor()
  await outer().locator('[data-kind=answer]', { hasText: 'From inside.' }).waitFor()
  const line = { role: 'assistant', content: [{ type: 'text', text: 'One more thing.' }] }
  const entry = { type: 'assistant', isSidechain: true, agentId: CLAUDE.agent, message: line }
  appendFileSync(claude.subagent, `${JSON.stringify(entry)}\n`)
  await outer().locator('[data-kind=answer]', { hasText: 'One more thing.' }).waitFor()
  const inner = outer().locator('.subagent')
  await inner.getByRole('button', head).click()
  await inner.locator('[data-kind=answer]', { hasText: 'Deep.' }).waitFor()
  expect(await axeInBothSchemes(ui.page)).toEqual([])
  await outer().getByRole('button', head).first().click()
  await expect.poll(() => outer().locator('.said').count()).toBe(0)
})

test('its secrets are masked until the switch is used', async () => {
  await ui.show(`/s/${CLAUDE.session}`)
  await outer().getByRole('button', head).click()
  const written = outer().locator('.tool', { hasText: 's.txt' }).first()
  await written.getByText('the key is ••••••').waitFor()
  expect(await ui.page.content()).not.toContain(SECRET)
  await ui.page.getByRole('checkbox', { name: 'show secrets' }).check()
  await written.getByText(SECRET).waitFor()
})

test('a long subagent shows its first items, and more on request', async () => {
  await ui.show(`/s/${CLAUDE.session}`)
  const before = readFileSync(claude.subagent, 'utf8').trimEnd().split('\n').length
  const lines = Array.from({ length: 100 }, (_, n) => {
    const content = [{ type: 'text', text: `step ${n + before}` }]
    return `${JSON.stringify({ type: 'assistant', message: { role: 'assistant', content } })}\n`
  })
  appendFileSync(claude.subagent, lines.join(''))
  await outer().getByRole('button', head).click()
  await outer().getByText('step 49', { exact: true }).waitFor()
  expect(await outer().getByText('step 50', { exact: true }).count()).toBe(0)
  await outer().getByRole('button', { name: 'show more of the subagent' }).click()
  await outer()
    .getByText(`step ${before + 99}`, { exact: true })
    .waitFor()
  expect(await outer().getByRole('button', { name: 'show more' }).count()).toBe(0)
})

test('an export has them; without its file, a subagent is a sentence', async () => {
  const file = join(ui.store.folder, 'work.html')
  expect(ui.store.run(['ui', '--export', file]).stderr).toBe('')
  const content = readFileSync(file, 'utf8')
  expect([content.includes('From inside.'), content.includes(SECRET)]).toEqual([true, false])
  const context = await (await browser()).newContext({ offline: true })
  const page = await context.newPage()
  await page.goto(`${pathToFileURL(file).href}#/s/${CODEX.session}`)
  await page.getByRole('button', head).click()
  await page.locator('.subagent [data-kind=answer]', { hasText: 'Cleaned up.' }).waitFor()
  await context.close()
  rmSync(codex.subagent)
  await ui.show(`/s/${CODEX.session}`)
  await outer().getByRole('button', head).click()
  await outer().getByText('There is nothing to show: no file on this machine has').waitFor()
})
