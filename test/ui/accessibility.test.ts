// axe finds nothing to complain about in any view or dialog, in both color schemes.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import { agentStore, CLAUDE_SESSION, PROMPTS } from '../support/browser/agent-store.js'
import { axeInBothSchemes } from '../support/browser/axe.js'
import { holdAnswers } from '../support/browser/held-answers.js'
import { applyPlan, planShown, undoBar } from '../support/browser/restore-dialog.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
let edit = ''
let art = ''
let login = ''
beforeAll(() => {
  edit = rowOf(ui.store, 'Edit src/login.ts').id
  login = rowOf(ui.store, `You: ${PROMPTS.login}`).id
  art = rowOf(ui.store, 'Bash: make logo').id
})

/** The address of each view, and what it shows when all of its data is there. */
const VIEWS: Readonly<Record<string, () => readonly [path: string, loaded: string]>> = {
  timeline: () => ['/', '[role=row][data-id]'],
  'checkpoint with a diff': () => [`/c/${edit}?file=src/login.ts`, '[data-line]'],
  'checkpoint with images and hostile names': () => [`/c/${art}?file=logo.png`, '.picture img'],
  'checkpoint, since then': () => [`/c/${edit}?tab=since`, '[data-line]'],
  'checkpoint, files': () => [`/c/${edit}?tab=files`, '[role=treeitem]'],
  'checkpoint, an opened file': () => [`/c/${edit}?tab=files&file=src/login.ts`, '.file-toolbar'],
  'checkpoint, conversation': () => [`/c/${edit}?tab=conversation`, '[data-item]'],
  'checkpoint, details': () => [`/c/${edit}?tab=details`, '.details'],
  sessions: () => ['/sessions', '[data-session]'],
  session: () => [`/s/${CLAUDE_SESSION}`, '[data-item]'],
  compare: () => [`/compare?a=${edit}&b=${art}`, '[data-view=compare] [data-line]'],
  files: () => ['/files', '[data-view=file]'],
  'file history': () => ['/files?path=src/login.ts', '.version-row'],
  search: () => ['/search?q=login', '[data-view=search][data-state=ready] .search-result'],
  store: () => ['/store', '[data-view=store][data-state=ready]'],
  'unknown checkpoint': () => ['/c/bbbbbbbbbbbbbbbbbb', '.state-message[data-kind=error]'],
}

const violations = () => axeInBothSchemes(ui.page)

test.each(Object.keys(VIEWS))('%s', async (name) => {
  const [path = '', loaded = ''] = VIEWS[name]?.() ?? []
  await ui.show(path)
  await ui.page.locator(loaded).first().waitFor()
  // The answer to an unknown checkpoint is an error, which the browser logs.
  if (name === 'unknown checkpoint') ui.takeFaults()
  expect(await violations()).toEqual([])
})

/** Menus and layouts of views: the clicks that open them, and an element that is visible then. */
const OPENED: Readonly<
  Record<string, readonly [path: () => string, click: readonly string[], shown: string]>
> = {
  'the kinds of the timeline': [() => '/', ['All kinds'], '.tl-kinds[open] label'],
  'the picker of a checkpoint': [
    () => `/compare?a=${edit}`,
    ['Checkpoint B'],
    '.combobox-list [role=option]',
  ],
  'the suggestions of paths': [
    () => '/files',
    ['Path of a file or folder'],
    '.combobox-list [role=option]',
  ],
  'a split diff': [
    () => `/c/${edit}?file=src/login.ts`,
    ['Split'],
    '.diff-body[data-layout=split] [data-line]',
  ],
  'a wrapped diff': [
    () => `/c/${edit}?file=src/login.ts`,
    ['Unified', 'Wrap'],
    '.choice [aria-pressed=true] >> text=Wrap',
  ],
}

test.each(Object.keys(OPENED))('opened: %s', async (name) => {
  const { page } = ui
  const [path, click, shown] = OPENED[name] ?? [() => '', [], '']
  await ui.show(path())
  for (const one of click)
    await page
      .locator('summary', { hasText: one })
      .or(page.getByRole('combobox', { name: one }))
      .or(page.getByRole('button', { name: one, exact: true }))
      .click()
  await page.locator(shown).first().waitFor()
  expect(await violations()).toEqual([])
  await page.evaluate('localStorage.clear()')
})

test('restore dialog with a conflict and a preview, and the dialogs of undo and redo', async () => {
  const { page } = ui
  const inTheWay = join(ui.store.project, 'notes.txt')
  mkdirSync(inTheWay)
  writeFileSync(join(inTheWay, 'large.raw'), 'x'.repeat(11 * 1024 * 1024))
  await ui.show(`/c/${login}`)
  await page.keyboard.press('r')
  const dialog = await planShown(page)
  await dialog.getByRole('switch', { name: /Keep my changes/ }).uncheck()
  await dialog.locator('[data-action=conflict]').waitFor()
  await dialog.locator('[data-path="src/login.ts"] button').click()
  await dialog.locator('[data-preview] [data-line]').first().waitFor()
  expect(await violations()).toEqual([])
  await page.keyboard.press('Escape')
  rmSync(inTheWay, { recursive: true })
  await ui.show('/')
  await page.getByRole('button', { name: 'Redo' }).click()
  await planShown(page)
  expect(await violations()).toEqual([])
  await applyPlan(page)
  await page.keyboard.press('u')
  await planShown(page)
  expect(await violations()).toEqual([])
  await applyPlan(page)
})

test('restore dialog', async () => {
  await ui.show(`/c/${edit}`)
  await ui.page.keyboard.press('r')
  await ui.page.locator('dialog[data-dialog=restore] [data-state=ready]').waitFor()
  expect(await violations()).toEqual([])
  await ui.page.keyboard.press('Escape')
})

test.each([
  ['name', 'n'],
  ['fork', 'f'],
])('%s dialog', async (name, key) => {
  const { page } = ui
  await ui.show('/')
  await page.locator(`[role=row][data-id="${edit}"]`).focus()
  await page.keyboard.press(key)
  await page.locator(`dialog[data-dialog=${name}]`).waitFor()
  expect(await violations()).toEqual([])
  await page.keyboard.press('Escape')
})

test('bar after a restore', async () => {
  const { page } = ui
  await ui.show(`/c/${edit}`)
  await page.keyboard.press('r')
  await planShown(page)
  await page.getByRole('radio', { name: 'Conversation', exact: true }).check()
  await applyPlan(page)
  await undoBar(page).waitFor()
  expect(await violations()).toEqual([])
})

test.each([
  ['start', '/'],
  ['session', `/s/${CLAUDE_SESSION}`],
  ['store', '/store'],
] as const)('while %s is loading', async (method, path) => {
  const { page } = ui
  await using answers = await holdAnswers(page, method)
  await page.goto(new URL(path, ui.server.origin).href)
  await answers.arrived(1)
  await page.locator('.state-message[role=status]').first().waitFor()
  // The heading comes with the data, and gets the focus then.
  const found = await violations()
  expect(found.filter((one) => !one.startsWith('page-has-heading-one | '))).toEqual([])
})

test('list of keys', async () => {
  await ui.show('/')
  await ui.page.keyboard.press('?')
  await ui.page.getByRole('dialog').waitFor()
  expect(await violations()).toEqual([])
  await ui.page.keyboard.press('Escape')
})

test('a page with a contrast that is too low is found in the dark scheme alone', async () => {
  const { page } = ui
  await ui.show('/')
  // A wrong rule of ours, without which this file could not fail.
  await page.evaluate(
    `document.documentElement.style.setProperty('--text-muted', 'light-dark(#57606a, #333)')`,
  )
  const found = await violations()
  expect(found.length).toBeGreaterThan(0)
  expect(found.filter((one) => !one.startsWith('dark: color-contrast | '))).toEqual([])
})
