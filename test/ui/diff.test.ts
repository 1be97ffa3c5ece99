// The diff in a real browser: scrolling, keys, more context, colors, selection.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type Scratch, scratch } from '../cli/program.js'
import { rowOf } from '../support/agent-story.js'
import { useUi } from '../support/browser/use-ui.js'

const LINES = 25_000
/** About 1 MB. */
const line = (n: number, word: string) => `export const value${n} = '${word} of line ${n}'\n`
const whole = (word: (n: number) => string) =>
  Array.from({ length: LINES }, (_, n) => line(n + 1, word(n + 1))).join('')

function makeStore(): Scratch {
  const s = scratch({ 'large.ts': whole(() => 'old'), 'unix.txt': 'one\ntwo' })
  const save = (reason: string) => {
    const { code, stderr } = s.run(['save', '-m', reason])
    if (code !== 0) throw new Error(stderr)
  }
  save('first')
  writeFileSync(
    join(s.project, 'large.ts'),
    whole((n) => (n % 1000 === 0 ? 'new' : 'old')),
  )
  writeFileSync(join(s.project, 'unix.txt'), 'one\ntwo  \nthree\u200b\n')
  save('some lines')
  writeFileSync(
    join(s.project, 'large.ts'),
    whole(() => 'other'),
  )
  save('every line')
  const wide = (n: number) =>
    `${n}: ${(n % 50 === 0 ? 'wide 漢字 ' : 'long \tand\u202e lines ').repeat(n % 23)}\n`
  writeFileSync(
    join(s.project, 'wide.txt'),
    Array.from({ length: 600 }, (_, n) => wide(n)).join(''),
  )
  save('wide lines')
  return s
}

const ui = useUi(makeStore)
const lines = () => ui.page.locator('[data-line]')
const visible = () =>
  ui.page.evaluate<
    readonly string[]
  >(`[...document.querySelectorAll('[data-line]')].filter((line) => {
    const box = line.closest('.diff-scroll').getBoundingClientRect()
    const { top, bottom } = line.getBoundingClientRect()
    return bottom > box.top && top < box.bottom
  }).map((line) => line.dataset.line)`)
const scrollBy = (part: number) =>
  ui.page.evaluate(`(() => {
    const box = document.querySelector('.diff-scroll')
    box.scrollTop = box.scrollHeight * ${part}
  })()`)
let some = ''
let every = ''
let wide = ''
beforeAll(() => {
  some = rowOf(ui.store, 'some lines').id
  every = rowOf(ui.store, 'every line').id
  wide = rowOf(ui.store, 'wide lines').id
})
beforeEach(() => ui.page.setViewportSize({ width: 1000, height: 800 }))

async function open(id: string, file: string): Promise<void> {
  await ui.show(`/c/${id}?file=${file}`)
  await lines().first().waitFor()
}

test('a patch of 1 MB has only the visible rows in the document, wherever it is scrolled to', async () => {
  await open(every, 'large.ts')
  expect((await visible())[0]).toBe('1')
  // Unified: all removed lines, then all added ones.
  for (const [part, expected] of [
    [0.25, LINES / 2],
    [0.75, LINES / 2],
    [1, LINES],
  ] as const) {
    await scrollBy(part)
    await expect
      .poll(async () => (await visible()).some((one) => Math.abs(Number(one) - expected) < 60))
      .toBe(true)
    expect(await lines().count()).toBeLessThan(250)
  }
  await scrollBy(0)
  await expect.poll(async () => (await visible())[0]).toBe('1')
})

test('n and p go from change to change', async () => {
  await open(some, 'large.ts')
  await ui.page.keyboard.press('n')
  await ui.page.keyboard.press('n')
  const shows = async (n: number) => {
    await expect.poll(visible).toContain(String(n))
  }
  await shows(3000)
  for (let n = 0; n < 22; n += 1) await ui.page.keyboard.press('n')
  await shows(25_000)
  for (let n = 0; n < 24; n += 1) await ui.page.keyboard.press('p')
  await shows(1000)
})

test('more lines are shown around a change, and the first visible line stays where it is', async () => {
  await open(some, 'large.ts')
  await expect.poll(visible).not.toContain('990')
  await ui.page.getByRole('button', { name: /Show more of 996 hidden lines/ }).waitFor()
  await ui.page.keyboard.press('n')
  const more = ui.page.getByRole('button', { name: /Show more of/ }).first()
  // The click would scroll to it otherwise.
  await more.scrollIntoViewIfNeeded()
  const [first] = await visible()
  await more.click()
  await expect.poll(async () => (await visible())[0]).toBe(first)
  await ui.page.getByRole('button', { name: 'Whole file' }).click()
  await ui.page
    .getByRole('button', { name: /Show more of/ })
    .first()
    .waitFor({ state: 'detached' })
  await scrollBy(0)
  await expect.poll(async () => (await visible())[0]).toBe('1')
})

test('words, syntax, invisible characters and a missing newline are marked', async () => {
  await open(some, 'large.ts')
  await ui.page.locator('.syntax-keyword').first().waitFor()
  expect(await ui.page.locator('del.diff-word').first().innerText()).toBe('old')
  expect(await ui.page.locator('ins.diff-word').first().innerText()).toBe('new')
  await open(some, 'unix.txt')
  const text = await ui.page.locator('.diff-scroll').innerText()
  expect(text).toContain(String.raw`three\u200b`)
  expect(text).toContain('No newline at the end of the file')
  expect(await ui.page.locator('.diff-trailing').innerText()).toBe('  ')
})

test('the layout follows the width until the user chooses one', async () => {
  const layout = () => ui.page.locator('.diff-body').getAttribute('data-layout')
  await open(some, 'unix.txt')
  expect(await layout()).toBe('unified')
  await ui.page.setViewportSize({ width: 1400, height: 800 })
  await expect.poll(layout).toBe('split')
  await ui.page.getByRole('button', { name: 'Unified' }).click()
  await expect.poll(layout).toBe('unified')
  await open(some, 'unix.txt')
  expect(await layout()).toBe('unified')
  await ui.page.evaluate(`localStorage.removeItem('savestate-diff')`)
})

test('a selection has the code of one side, without numbers and signs', async () => {
  await ui.page.setViewportSize({ width: 1400, height: 800 })
  await open(some, 'unix.txt')
  const selected = await ui.page.evaluate(`(() => {
    getSelection().selectAllChildren(document.querySelector('.diff-pane:last-child .diff-rows'))
    return getSelection().toString()
  })()`)
  expect(selected).toBe('one\ntwo  \nthree\\u200b')
})

test('a single file is restored through the dialog, with only its path selected', async () => {
  await open(some, 'unix.txt')
  await ui.page.getByRole('button', { name: 'Restore this file…' }).click()
  const dialog = ui.page.locator('dialog[data-dialog=restore]')
  await dialog.locator('[data-state=ready]').waitFor()
  const boxes = dialog.getByRole('checkbox', { checked: true })
  await dialog.getByText('large.ts').first().waitFor()
  expect(await boxes.count()).toBe(0)
  await ui.page.keyboard.press('Escape')
})

test.each([390, 1440])(
  'long lines are wrapped on demand, which the browser remembers: %i px',
  async (width) => {
    const { page } = ui
    await page.setViewportSize({ width, height: 800 })
    await open(wide, 'wide.txt')
    const sideways = () =>
      page.evaluate<boolean>(
        `[...document.querySelectorAll('.diff-pane')].some((pane) => pane.scrollWidth > pane.clientWidth)`,
      )
    expect(await sideways()).toBe(true)
    await page.keyboard.press('w')
    await page.getByRole('button', { name: 'Wrap', pressed: true }).waitFor()
    await expect.poll(sideways).toBe(false)
    // The browser breaks the lines where the computed heights expect it.
    const misfits = `[...document.querySelectorAll('[data-line]')].filter((line) => {
    const [code, box] = [line.querySelector('.diff-code'), line.getBoundingClientRect()]
    const range = new Range()
    range.selectNodeContents(code)
    const { bottom } = range.getBoundingClientRect()
    const rest = box.bottom - bottom
    // The font may draw wide characters narrower than two columns.
    const most = code.textContent.includes('漢') ? 150 : 12
    return code.textContent !== '' && (rest < -1 || rest > most)
  }).map((line) => line.textContent)`
    for (const part of [0, 0.5, 1]) {
      await scrollBy(part)
      await expect.poll(() => page.evaluate(misfits)).toEqual([])
    }
    await expect.poll(async () => (await visible()).at(-1)).toBe('600')
    await page.reload()
    await lines().first().waitFor()
    await expect.poll(sideways).toBe(false)
    await page.getByRole('button', { name: 'Wrap', pressed: true }).click()
    await expect.poll(sideways).toBe(true)
  },
)
