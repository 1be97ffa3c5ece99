// 10,000 checkpoints and a conversation of 50 MB. Times and memory are rows of the benchmark; here the page has to work.
import { expect, test } from 'vitest'
import { LONG_SESSION } from '../support/browser/large-stores.js'
import { largeStore, LINES } from '../support/browser/scratch-stores.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(largeStore)

const ROWS = '[data-view=timeline] [role=row][data-id]'
const countOf = (selector: string) => ui.page.locator(selector).count()
/** Scrolls the box that contains the elements of the selector; `part` 1 is its end. */
const scrollTo = (selector: string, part: number) =>
  ui.page.evaluate(`(() => {
    let box = document.querySelector(${JSON.stringify(selector)})
    while (box !== null && !(box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY !== 'visible'))
      box = box.parentElement
    box ??= document.scrollingElement
    box.scrollTop = box.scrollHeight * ${part}
  })()`)

test('the oldest of 10,000 checkpoints is reached by scrolling, with few rows in the document', async () => {
  await ui.show('/')
  expect(await countOf(ROWS)).toBeLessThan(250)
  // Older rows arrive in pages, so the end moves until all are there.
  const oldest = ui.page.locator(ROWS, { hasText: 'Part 0' }).first()
  await expect
    .poll(async () => {
      await scrollTo(ROWS, 1)
      return oldest.isVisible()
    })
    .toBe(true)
  expect(await countOf(ROWS)).toBeLessThan(250)
  await scrollTo(ROWS, 0)
  await ui.page.locator(ROWS, { hasText: 'prompt 9990' }).first().waitFor()
})

test('a conversation of 50 MB opens at its end, and the middle can be read', async () => {
  await ui.show(`/s/${LONG_SESSION}`)
  const indexes = () =>
    ui.page.evaluate<
      readonly number[]
    >(`[...document.querySelectorAll('[data-item]')].filter((item) => {
      const { top, bottom } = item.getBoundingClientRect()
      return bottom > 0 && top < innerHeight
    }).map((item) => Number(item.dataset.item))`)
  await expect.poll(async () => Math.max(...(await indexes()))).toBeGreaterThan(LINES - 5)
  expect(await countOf('[data-item]')).toBeLessThan(400)
  await expect
    .poll(async () => {
      await scrollTo('[data-item]', 0.5)
      return (await indexes()).some((index) => index > LINES * 0.3 && index < LINES * 0.7)
    })
    .toBe(true)
  await ui.page.getByRole('navigation', { name: 'Prompts' }).getByText('Part 2').click()
  await expect.poll(indexes).toContain((LINES / 10) * 2)
  const prompts = ui.page.getByRole('navigation', { name: 'Prompts' })
  const find = prompts.getByRole('searchbox', { name: 'Find a prompt' })
  await find.fill('PART 7')
  expect(await prompts.getByRole('button').allInnerTexts()).toEqual(['8 Part 7'])
  await prompts.getByRole('button').click()
  await expect.poll(indexes).toContain((LINES / 10) * 7)
  await find.fill('no such prompt')
  await prompts.getByText('No prompt has these words.').waitFor()
  await ui.page.setViewportSize({ width: 600, height: 800 })
  const jump = ui.page.getByRole('combobox', { name: 'Jump to a prompt' })
  await jump.selectOption({ label: '4. Part 3' })
  await expect.poll(indexes).toContain((LINES / 10) * 3)
  expect(await countOf('[data-item]')).toBeLessThan(400)
})
