// One checkpoint: its tabs, diffs of every kind of file, the folder as it was, and what it left out.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import { agentStore, HOSTILE_FILES, PROMPTS, SECRET } from '../support/browser/agent-store.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
const view = () => ui.page.locator('[data-view=checkpoint]')
const lines = () => ui.page.locator('[data-view=checkpoint] [data-line]')
const tab = (name: string) => ui.page.getByRole('tab', { name })
const ids = { edit: '', art: '', move: '', table: '', remove: '' }
beforeAll(() => {
  ids.edit = rowOf(ui.store, 'Edit src/login.ts').id
  ids.art = rowOf(ui.store, 'Bash: make logo').id
  ids.move = rowOf(ui.store, 'Bash: git mv src/util.ts src/utilities.ts').id
  ids.table = rowOf(ui.store, 'Bash: node generate.mjs > src/table.ts').id
  ids.remove = rowOf(ui.store, 'Bash: rm notes.txt').id
})

test('changed here: files with figures and authors, and the diff of the first one', async () => {
  await ui.show(`/c/${ids.edit}`)
  await lines().first().waitFor()
  const text = await view().innerText()
  for (const part of ['src/login.ts', 'src/sso.ts', 'claude', PROMPTS.login])
    expect(text).toContain(part)
  await view().getByText('verifyTicket').first().waitFor()
})

test('arrows and clicks change the tab; [ and ] go to the neighbors', async () => {
  const { page } = ui
  await ui.show(`/c/${ids.edit}`)
  await tab('Changed here').focus()
  for (const name of ['Since then', 'Files as they were', 'Conversation', 'Details']) {
    await page.keyboard.press('ArrowRight')
    expect(await tab(name).getAttribute('aria-selected')).toBe('true')
  }
  for (const [name, shown] of [
    ['Changed here', '[data-line]'],
    ['Since then', '[data-line]'],
    ['Files as they were', '[role=treeitem]'],
    ['Conversation', '[data-item]'],
    ['Details', '.details'],
  ] as const) {
    await tab(name).click()
    await page.locator(`[role=tabpanel] ${shown}`).first().waitFor()
    expect(await tab(name).getAttribute('aria-selected')).toBe('true')
  }
  await page.keyboard.press(']')
  await expect.poll(() => new URL(page.url()).pathname).not.toBe(`/c/${ids.edit}`)
  await page.keyboard.press('[')
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/c/${ids.edit}`)
})

test('unified and split show the same lines', async () => {
  const { page } = ui
  await ui.show(`/c/${ids.edit}?file=src/login.ts`)
  await lines().first().waitFor()
  for (const name of ['Split', 'Unified']) {
    await page.getByRole('button', { name, exact: true }).click()
    await page.locator(`.diff-body[data-layout=${name.toLowerCase()}]`).waitFor()
    const text = async () => view().innerText()
    await expect.poll(text).toContain('export function login(user: string): boolean {')
    expect(await text()).toContain('export async function login(user: string, ticket?: string)')
  }
})

test('an added file of 3,000 lines is drawn as far as it is visible', async () => {
  await ui.show(`/c/${ids.table}?file=src/table.ts`)
  await lines().first().waitFor()
  expect(await lines().count()).toBeLessThan(600)
})

test('images are shown side by side, binary files are named as such', async () => {
  const { page } = ui
  await ui.show(`/c/${ids.art}?file=logo.png`)
  const images = view().locator('img')
  await expect.poll(() => images.count()).toBe(2)
  const sizes = `[...document.querySelectorAll('[data-view=checkpoint] img')].map((image) => [image.naturalWidth, image.src.slice(0, 5)])`
  await expect
    .poll(() => page.evaluate(sizes))
    .toEqual([
      [8, 'blob:'],
      [8, 'blob:'],
    ])
  await ui.show(`/c/${ids.art}?file=data.bin`)
  await view().getByText('A binary file.').waitFor()
})

test('since then: an image is shown beside the one that is in the folder now', async () => {
  const { page } = ui
  const path = join(ui.store.project, 'logo.png')
  const now = readFileSync(path)
  // An image of 1 × 1 pixel.
  const tiny =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  writeFileSync(path, Buffer.from(tiny, 'base64'))
  await ui.show(`/c/${ids.art}?tab=since&file=logo.png`)
  const sizes = `[...document.querySelectorAll('[data-view=checkpoint] img')].map((image) => [image.alt, image.naturalWidth])`
  await expect
    .poll(() => page.evaluate(sizes))
    .toEqual([
      ['logo.png, before:', 8],
      ['logo.png, now:', 1],
    ])
  writeFileSync(path, now)
})

test('hostile file names are text, and each can be opened', async () => {
  const { page } = ui
  await ui.show(`/c/${ids.art}`)
  const text = await view().innerText()
  expect(text).toContain('<img src=x onerror=alert(1)>.txt')
  expect(text).toContain('photo-\\u202egnp.js')
  for (const name of HOSTILE_FILES) {
    await ui.show(`/c/${ids.art}?file=${encodeURIComponent(name)}`)
    await lines().first().waitFor()
  }
  expect(await page.locator('main script').count()).toBe(0)
})

test('a removed file shows its lines, a moved one both paths', async () => {
  await ui.show(`/c/${ids.remove}`)
  await view().getByText('Remember the milk.').first().waitFor()
  await ui.show(`/c/${ids.move}`)
  const text = await view().innerText()
  for (const path of ['src/util.ts', 'src/utilities.ts']) expect(text).toContain(path)
})

test('since then: what changed in the folder after it', async () => {
  await ui.show(`/c/${ids.edit}?tab=since`)
  const text = async () => view().innerText()
  for (const path of ['table.ts', 'login.test.ts', 'notes.txt'])
    await expect.poll(text).toContain(path)
})

test('files as they were: folders open, files can be read and downloaded', async () => {
  const { page } = ui
  await ui.show(`/c/${ids.edit}?tab=files`)
  await view().getByText('users.json').first().waitFor()
  await view().getByText('src', { exact: true }).first().click()
  await view().getByRole('treeitem', { name: 'login.ts' }).click()
  await view().getByText('verifyTicket').first().waitFor()
  const downloading = page.waitForEvent('download')
  await view().getByRole('button', { name: 'Download' }).click()
  const saved = join(ui.store.folder, 'downloaded')
  const download = await downloading
  await download.saveAs(saved)
  expect(download.suggestedFilename()).toBe('login.ts')
  expect(readFileSync(saved, 'utf8')).toBe(ui.store.run(['cat', ids.edit, 'src/login.ts']).stdout)
})

test('conversation: as it was at this point, with secrets masked', async () => {
  await ui.show(`/c/${ids.remove}?tab=conversation`)
  await ui.page.locator('[data-item]').first().waitFor()
  await view().locator('[data-item]').getByText(PROMPTS.login).first().waitFor()
  expect(await ui.page.content()).not.toContain(SECRET)
})

test('details: what was left out and why, and the way back with git alone', async () => {
  await ui.show(`/c/${ids.edit}?tab=details`)
  await view().getByText('recording.raw').first().waitFor()
  const text = await view().innerText()
  for (const part of ['.env', 'git --git-dir', 'archive']) expect(text).toContain(part)
})
