// Rare states of a checkpoint and its dialog in a real browser: pruned files, no conversation, a running session, a folder that is
// gone, hundreds of files, a page without its key.
import { randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore, type Store } from '../../../src/index.js'
import { setStore } from '../../cli/commands/maintenance-helpers.js'
import { type Scratch, scratch } from '../../cli/program.js'
import { rowOf } from '../../support/agent-story.js'
import { axeInBothSchemes } from '../../support/browser/axe.js'
import { openGuarded } from '../../support/browser/guarded-page.js'
import { pagesOf } from '../../support/browser/pdf-pages.js'
import { applyButton, DIALOG, planShown } from '../../support/browser/restore-dialog.js'
import { useUi } from '../../support/browser/use-ui.js'

const FILES = 510
const BYTES = 1_000_000

let store: Store | undefined

async function makeStore(): Promise<Scratch> {
  const s = scratch({ 'a.txt': 'one\n' })
  setStore(s, { autoPrune: false })
  store = await openStore({ home: s.home, durability: 'process', inProcess: true })
  const project = await store.project(s.project)
  const done = await store.session<unknown>('done', { project })
  s.write({ 'noise.bin': randomBytes(BYTES).toString('latin1') })
  await done.save({ state: { messages: [] }, files: true, reason: 'Pruned' })
  await done.complete()
  await done.close()
  s.write({ 'noise.bin': 'small' })
  await project.save()
  s.write({ 'noise.bin': 'smaller' })
  await project.save({ reason: 'Few files' })
  const { sizeBytes } = await store.prune()
  await store.prune({ maxSizeMb: (sizeBytes - BYTES / 2) / 1e6 })
  const names = Array.from({ length: FILES }, (_, n) => `many/${String(n).padStart(4, '0')}.txt`)
  s.write(Object.fromEntries(names.map((name) => [name, 'x\n'])))
  await project.save({ reason: 'Many files' })
  const working = await store.session<unknown>('working', { project })
  s.write({ 'a.txt': 'two\n' })
  await working.save({ files: true, reason: 'Files only' })
  return s
}

const ui = useUi(makeStore)
const ids = { pruned: '', many: '', files: '' }
beforeAll(() => {
  ids.pruned = rowOf(ui.store, 'Pruned').id
  ids.many = rowOf(ui.store, 'Many files').id
  ids.files = rowOf(ui.store, 'Files only').id
})
afterAll(() => store?.close())

test('a checkpoint whose files were pruned says so in every tab that needs them, and in its dialog', async () => {
  const { page } = ui
  await ui.show('/')
  const row = page.locator(`[role=row][data-id="${ids.pruned}"]`)
  await row.getByText('files pruned').waitFor()
  for (const tab of ['changed', 'since', 'files']) {
    await ui.show(`/c/${ids.pruned}?tab=${tab}`)
    await page.getByText('The files of this checkpoint were pruned').waitFor()
  }
  await page.locator('.checkpoint-header').getByText('files pruned').waitFor()
  await page.keyboard.press('r')
  const dialog = await planShown(page)
  expect(
    await dialog
      .getByRole('radio', { name: /^Files/ })
      .first()
      .isEnabled(),
  ).toBe(false)
  expect(await axeInBothSchemes(page)).toEqual([])
  await page.keyboard.press('Escape')
})

test('a checkpoint with files only has no conversation, and neither has its session', async () => {
  const { page } = ui
  await ui.show(`/c/${ids.files}?tab=conversation`)
  await page.getByText('No conversation at this point').waitFor()
  await ui.show('/s/working')
  await page.locator('[data-view=session][data-state=empty]').waitFor()
  await page.getByText('have files only').waitFor()
  expect(await axeInBothSchemes(page)).toEqual([])
})

test('the dialog says that an agent is working in the folder, and that the folder is gone', async () => {
  const { page, store: s } = ui
  await ui.show(`/c/${ids.many}`)
  await page.keyboard.press('r')
  const dialog = await planShown(page)
  await dialog.getByText('working is working here.').waitFor()
  expect(await axeInBothSchemes(page)).toEqual([])
  await page.keyboard.press('Escape')
  renameSync(s.project, `${s.project}-gone`)
  await page.keyboard.press('r')
  await page
    .locator(`${DIALOG} [data-note=warn]`, { hasText: `There is no folder ${s.project}.` })
    .waitFor()
  expect(await applyButton(page).isEnabled()).toBe(false)
  expect(await axeInBothSchemes(page)).toEqual([])
  // The plan is made again by itself.
  renameSync(`${s.project}-gone`, s.project)
  await dialog.locator('[data-path="a.txt"]').waitFor()
  await page.keyboard.press('Escape')
  // While the folder was gone, other requests of the page for it may have failed.
  for (const fault of ui.takeFaults()) expect(fault).toContain('status of 404')
})

test('of hundreds of files the first 500 are listed, and more on request', async () => {
  const { page } = ui
  await ui.show(`/c/${ids.many}`)
  const files = page.getByRole('listbox', { name: 'Files' }).getByRole('option')
  await expect.poll(() => files.count()).toBe(500)
  // Their folder is new, too, and no file.
  expect(await page.locator('.changes-total').innerText()).toBe('510 files +510 −0')
  await page.getByRole('button', { name: 'Show 11 more of 511' }).click()
  await expect.poll(() => files.count()).toBe(FILES + 1)
  expect(await page.getByRole('button', { name: /^Show \d+ more/ }).count()).toBe(0)
})

test('on paper a plan has all of its lines', async () => {
  const { page } = ui
  await ui.show(`/c/${rowOf(ui.store, 'Few files').id}`)
  await page.keyboard.press('r')
  const dialog = await planShown(page)
  const lines = dialog.locator('[data-path]')
  const onScreen = await lines.count()
  await page.emulateMedia({ media: 'print' })
  // `a.txt`, too.
  await expect.poll(() => lines.count()).toBe(FILES + 1)
  await page.emulateMedia({ media: null })
  await expect.poll(() => lines.count()).toBe(onScreen)
  // 30 to 50 lines on a page.
  expect(pagesOf(await page.pdf({ format: 'A4' }))).toBeGreaterThan(9)
  await expect.poll(() => lines.count()).toBe(onScreen)
  expect(onScreen).toBeLessThan(100)
  await page.keyboard.press('Escape')
})

test('without its key, the page says where its address is', async () => {
  await using other = await openGuarded(ui.server.origin)
  const bar = other.page.locator('[data-bar=token]')
  expect(await bar.innerText()).toBe(
    'This page was opened without its key. Open the address that `savestate ui` printed in the terminal.',
  )
  await other.page.getByText('Nothing is loaded').waitFor()
  expect(await axeInBothSchemes(other.page)).toEqual([])
  expect(other.takeFaults()).toEqual([])
})
