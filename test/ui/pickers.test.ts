// Choosing by keyboard: the two sides of a comparison, and the path of a file history.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../cli/program.js'
import { rowOf } from '../support/agent-story.js'
import { useUi } from '../support/browser/use-ui.js'

function makeStore(): Scratch {
  const s = scratch({
    'src/one.txt': 'one line of text\n',
    'src/two.txt': 'two\n',
    'gone.txt': 'gone\n',
  })
  const save = (reason: string) => {
    const { code, stderr } = s.run(['save', '-m', reason])
    if (code !== 0) throw new Error(stderr)
  }
  save('first')
  s.write({ 'src/one.txt': 'one line of text and more\n' })
  save('second')
  rmSync(join(s.project, 'gone.txt'))
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
