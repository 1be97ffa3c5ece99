// Choosing by keyboard: the two sides of a comparison, the path of a file history, and a fork.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../cli/program.js'
import { openStore } from '../../src/index.js'
import { rowOf } from '../support/agent-story.js'
import { applyPlan, planRows } from '../support/browser/restore-dialog.js'
import { useUi } from '../support/browser/use-ui.js'

function makeStore(): Scratch {
  const s = scratch({
    'src/one.txt': 'one line of text\n',
    'src/two.txt': 'two\n',
    'src/old.txt': 'old\n',
    'gone.txt': 'gone\n',
    'large.txt': `${'x'.repeat(99)}\n`.repeat(103_000),
  })
  const save = (reason: string) => {
    const { code, stderr } = s.run(['save', '-m', reason])
    if (code !== 0) throw new Error(stderr)
  }
  save('first')
  s.write({ 'src/one.txt': 'one line of text and more\n' })
  save('second')
  rmSync(join(s.project, 'gone.txt'))
  rmSync(join(s.project, 'src/old.txt'))
  save('third')
  return s
}

const ui = useUi(makeStore)
const parameter = (name: string) => new URL(ui.page.url()).searchParams.get(name)
const id = (reason: string) => rowOf(ui.store, reason).id

test('compare: words find a checkpoint, Enter takes it, the sides can be swapped', async () => {
  const { page } = ui
  await ui.show('/compare')
  await page.getByText('A and B have the same files').waitFor()
  for (const [letter, words] of [
    ['A', 'first'],
    ['B', 'second'],
  ] as const) {
    await page.getByRole('combobox', { name: `Checkpoint ${letter}` }).fill(words)
    await page.locator('.combobox-list').getByText(words).first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => parameter(letter.toLowerCase())).toBe(id(words))
  }
  await page.locator('ins.diff-word').getByText('and more').waitFor()
  await page.getByRole('button', { name: 'Swap' }).click()
  await expect.poll(() => [parameter('a'), parameter('b')]).toEqual([id('second'), id('first')])
  await page.locator('del.diff-word').getByText('and more').waitFor()
})

test('compare, by mouse: a checkpoint is picked, files are filtered, and one is taken from each side', async () => {
  const { page } = ui
  await ui.show(`/compare?a=${id('first')}&b=${id('second')}`)
  const field = page.getByRole('combobox', { name: 'Checkpoint B' })
  await field.click()
  await field.fill('third')
  await page.getByRole('option', { name: 'third' }).click()
  await expect.poll(() => parameter('b')).toBe(id('third'))
  const files = page.getByRole('complementary', { name: 'Files that differ' }).getByRole('option')
  const paths = async () =>
    files.evaluateAll((all) => all.map((one) => one.getAttribute('data-path')))
  await expect.poll(paths).toEqual(['src/one.txt', 'gone.txt', 'src/old.txt'])
  const filter = page.getByRole('searchbox', { name: 'Filter the files' })
  await filter.fill('SRC/O')
  expect(await paths()).toEqual(['src/one.txt', 'src/old.txt'])
  await filter.fill('no such path')
  await page.getByText('No path has these words.').waitFor()
  await filter.fill('')
  await files.getByText('gone.txt').click()
  await expect.poll(() => parameter('file')).toBe('gone.txt')
  // Only A has it.
  const take = (letter: string) =>
    page.getByRole('button', { name: `Take this file from ${letter}…` })
  await take('A').waitFor()
  expect(await take('B').count()).toBe(0)
  await page.locator('.file-row[data-path="src/one.txt"]').click()
  await take('B').click()
  await page.getByText('Nothing to do: the folder is as it was then.').waitFor()
  await page.keyboard.press('Escape')
  await take('A').click()
  expect((await planRows(page)).filter(({ ticked }) => ticked)).toEqual([
    { action: 'write', path: 'src/one.txt', ticked: true },
  ])
  await page.keyboard.press('Escape')
})

test('files: folders are entered, files are chosen, and a deleted file can be typed', async () => {
  const { page } = ui
  await ui.show('/files')
  const field = page.getByRole('combobox', { name: 'Path of a file or folder' })
  await field.fill('s')
  await page.getByRole('option', { name: 'src/' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  expect(await field.inputValue()).toBe('src/')
  await page.keyboard.type('o')
  await page.getByRole('option', { name: 'src/one.txt' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => parameter('path')).toBe('src/one.txt')
  await page.getByText('2 versions').waitFor()
  await field.fill('gone.txt')
  await page.keyboard.press('Enter')
  await expect.poll(() => parameter('path')).toBe('gone.txt')
  await page.getByRole('button', { name: 'Restore the last version…' }).waitFor()
  await page.locator('.version-row').getByText('removed', { exact: true }).waitFor()
})

test('files, by mouse: a version is chosen, and a file that it changed in the folder', async () => {
  const { page } = ui
  await ui.show('/files?path=src')
  await page.locator(`.version-row[data-id="${id('first')}"]`).click()
  await expect.poll(() => parameter('at')).toBe(id('first'))
  const inside = page.getByRole('combobox', { name: 'Changed in it' })
  await inside.selectOption('src/two.txt')
  await expect.poll(() => parameter('file')).toBe('src/two.txt')
  await page.locator('[data-line]', { hasText: 'two' }).waitFor()
})

test('files: what a checkpoint has deleted in a folder comes back, and its last version can be downloaded', async () => {
  const { page } = ui
  await ui.show(`/files?path=src&at=${id('third')}`)
  const restore = page.getByRole('button', { name: 'Restore the last version…' })
  await restore.waitFor()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  expect(readFileSync(await (await downloading).path(), 'utf8')).toBe('old\n')
  await restore.click()
  expect(await planRows(page)).toEqual([
    { action: 'restore', path: 'gone.txt', ticked: false },
    { action: 'restore', path: 'src/old.txt', ticked: true },
  ])
  await applyPlan(page)
  expect(readFileSync(join(ui.store.project, 'src/old.txt'), 'utf8')).toBe('old\n')
})

test('files of a checkpoint: one that is too large to show is not read to its end', async () => {
  const { page } = ui
  const stopped = page.waitForEvent('requestfailed', (request) => request.url().includes('large'))
  await ui.show(`/c/${id('first')}?tab=files&file=large.txt`)
  await page.getByText('This file is too large to show.').waitFor()
  await page.locator('.file-toolbar').getByText('10.3 MB').waitFor()
  await stopped
})

test('a fork by keyboard; its page compares it with its origin, and the picker finds it by its session', async () => {
  const { page } = ui
  await saveStep('task', 'text by the task\n')
  await ui.show('/')
  const origin = rowOf(ui.store, 'Step of task').id
  await page.locator(`[role=row][data-id="${origin}"]`).focus()
  await page.keyboard.press('f')
  const dialog = page.locator('dialog[data-dialog=fork]')
  await dialog.locator('input:focus').waitFor()
  await page.keyboard.type('other-way')
  await page.keyboard.press('Enter')
  await dialog.getByRole('link', { name: 'other-way' }).waitFor()
  await saveStep('other-way', 'text by the fork\n')
  await dialog.getByRole('link', { name: 'other-way' }).focus()
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'compare with its origin' }).click()
  await page.locator('ins.diff-word').getByText('fork').waitFor()
  expect([parameter('a'), parameter('b')]).toEqual([origin, id('Step of other-way')])
  await page.getByRole('combobox', { name: 'Checkpoint B' }).fill('other-way')
  const option = page.locator('.combobox-list').getByRole('option').first()
  expect(await option.innerText()).toMatch(/^Step of other-way\s.* · session other-way$/)
})

/** A step of a program that uses the SDK. */
async function saveStep(session: string, text: string): Promise<void> {
  const { home, project: path } = ui.store
  const store = await openStore({ home, durability: 'process', inProcess: true })
  const opened = await store.session(session, { project: await store.project(path) })
  ui.store.write({ 'task.txt': text })
  await opened.save({ state: { text }, reason: `Step of ${session}`, files: true })
  await store.close()
}
