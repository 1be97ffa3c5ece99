// The server has ended, and another process is back at its port with another key.
import { expect, test } from 'vitest'
import { type Scratch, PROGRAM, scratch } from '../cli/program.js'
import { claudePrompt, claudeShell, rowOf, rowsOf } from '../support/agent-story.js'
import { axeInBothSchemes } from '../support/browser/axe.js'
import { type GuardedPage, openGuarded } from '../support/browser/guarded-page.js'
import { applyButton, DIALOG, planShown } from '../support/browser/restore-dialog.js'
import { startUi, type UiServer } from '../support/browser/ui-server.js'
import { ready } from '../support/browser/use-ui.js'

function makeStore(): Scratch {
  const s = scratch({ 'a.txt': 'a\n' })
  claudePrompt(s, 'Before the end')
  claudeShell(s, 'echo b > a.txt')
  return s
}

const serve = (s: Scratch, port?: string): Promise<UiServer> =>
  startUi({
    program: PROGRAM,
    project: s.project,
    environment: s.environment,
    args: port === undefined ? [] : ['--port', port],
  })

/** Without the lines that the browser itself logs for requests that fail or are refused. */
const unexpected = (guarded: GuardedPage) =>
  guarded.takeFaults().filter((fault) => !/ERR_|status of 401/.test(fault))

const keyOf = (server: UiServer) => new URL(server.url).hash.slice(1)

/** A request as the page sends it, with this key. */
async function askWith(
  key: string,
  origin: string,
): Promise<readonly [number, string | undefined]> {
  const answer = await fetch(`${origin}/api/start`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Sec-Fetch-Site': 'same-origin',
      Origin: origin,
      Authorization: `Bearer ${key}`,
    },
    body: '{}',
  })
  const body = (await answer.json()) as { readonly error?: { readonly code: string } }
  return [answer.status, body.error?.code]
}

test.each(['SIGINT', 'SIGKILL'] as const)(
  'after %s and a new start the page waits for the new address',
  async (signal) => {
    using s = makeStore()
    await using first = await serve(s)
    await using guarded = await openGuarded(first.url)
    const { page } = guarded
    await ready(page)
    await page.locator('[data-live=on]').waitFor()
    const row = page.locator(`[role=row][data-id="${rowOf(s, 'Bash: echo b > a.txt').id}"]`)
    await row.waitFor()

    await first.stop(signal)
    const gone = page.locator('[data-bar=gone]')
    await gone.getByText('Savestate does not answer.').waitFor()
    await gone.getByText('savestate ui', { exact: true }).waitFor()
    expect(await page.locator('.live').getAttribute('data-connection')).toBe('gone')
    expect(await axeInBothSchemes(page)).toEqual([])
    // Loaded rows stay; a view that is not loaded says why.
    await row.getByRole('link').first().click()
    await page.locator('main .code', { hasText: 'SERVER_GONE' }).waitFor()
    await page.goBack()
    await row.waitFor()

    const { port } = new URL(first.origin)
    await using second = await serve(s, port)
    expect(second.origin).toBe(first.origin)
    expect(keyOf(second)).not.toBe(keyOf(first))
    await page.locator('[data-bar=token]').getByText('Savestate was started again.').waitFor()
    expect(await gone.count()).toBe(0)
    expect(await axeInBothSchemes(page)).toEqual([])
    expect(await askWith(keyOf(first), second.origin)).toEqual([401, 'ACCESS_REFUSED'])
    expect(await askWith(keyOf(second), second.origin)).toEqual([200, undefined])
    // A reload does not help: the tab has only the old key.
    claudePrompt(s, 'After the new start')
    await page.reload()
    await page.locator('[data-bar=token]').waitFor()
    expect(await page.getByText('After the new start').count()).toBe(0)

    // The new address in the same tab: only its fragment differs.
    await page.goto(second.url)
    await page.locator('[data-live=on]').waitFor()
    await page.getByText('After the new start').first().waitFor()
    expect(await page.locator('[data-bar=token], [data-bar=gone]').count()).toBe(0)
    expect(new URL(page.url()).hash).toBe('')
    claudePrompt(s, 'Followed again')
    await page.getByText('Followed again').first().waitFor()
    expect(unexpected(guarded)).toEqual([])
  },
)

test('an open restore dialog cannot be applied without its server, nor with a new one', async () => {
  using s = makeStore()
  await using first = await serve(s)
  await using guarded = await openGuarded(first.url)
  const { page } = guarded
  await ready(page)
  await page.locator('[data-live=on]').waitFor()
  const { id } = rowOf(s, 'You: Before the end')
  await page.goto(new URL(`/c/${id}`, first.origin).href)
  await page.locator('[data-view=checkpoint][data-state=ready]').waitFor()
  await page.keyboard.press('r')
  await planShown(page)
  expect(await applyButton(page).isEnabled()).toBe(true)
  const before = rowsOf(s)

  await first.stop('SIGKILL')
  await page.locator(`${DIALOG} .code`, { hasText: 'SERVER_GONE' }).waitFor()
  expect(await applyButton(page).isEnabled()).toBe(false)
  await using second = await serve(s, new URL(first.origin).port)
  await page.locator(`${DIALOG} .code`, { hasText: 'ACCESS_REFUSED' }).waitFor()
  expect(await applyButton(page).isEnabled()).toBe(false)

  await page.goto(second.url)
  await page.locator('[data-live=on]').waitFor()
  await page.goto(new URL(`/c/${id}`, second.origin).href)
  await page.locator('[data-view=checkpoint][data-state=ready]').waitFor()
  await page.keyboard.press('r')
  await planShown(page)
  expect(await applyButton(page).isEnabled()).toBe(true)
  expect(rowsOf(s)).toEqual(before)
  expect(unexpected(guarded)).toEqual([])
})
