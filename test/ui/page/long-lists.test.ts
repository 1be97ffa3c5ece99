// Lists that arrive in parts: the versions of a path, the paths that a version changed, what a search finds.
import { beforeAll, expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { type Scratch, scratch } from '../../cli/program.js'
import { axeViolations } from '../../support/browser/axe.js'
import { useUi } from '../../support/browser/use-ui.js'

const FILES = 23
const FOUND = 250
let oldest = ''
let newest = ''

async function makeStore(): Promise<Scratch> {
  const s = scratch()
  const store = await openStore({ home: s.home, durability: 'process', inProcess: true })
  const project = await store.project(s.project)
  for (let n = 0; n < 5; n += 1) {
    s.write({ 'src/a.txt': `${n}\n` })
    const { id } = await project.save({ reason: `version ${n}` })
    oldest ||= id
  }
  for (let n = 0; n < FILES; n += 1) s.write({ [`src/${n}.txt`]: `${n}\n` })
  newest = (await project.save({ reason: 'many files' })).id
  const session = await store.session('task', { project })
  for (let n = 0; n < FOUND; n += 1) await session.save({ state: { n }, reason: `find me ${n}` })
  await store.close()
  return s
}

const ui = useUi(makeStore)
const versions = () => ui.page.locator('.version-row .version-title').allInnerTexts()
const results = () => ui.page.locator('.search-result').count()
const button = (name: string | RegExp) => ui.page.getByRole('button', { name })

/** The server is asked for pages of two versions. */
beforeAll(() =>
  ui.page.route('**/api/history', async (route) => {
    const input = route.request().postDataJSON() as Record<string, unknown>
    await route.continue({ postData: JSON.stringify({ ...input, limit: 2 }) })
  }),
)

test('older versions of a file are shown on request, and stay when the store changes', async () => {
  await ui.show('/files?path=src/a.txt')
  expect(await versions()).toEqual(['version 4', 'version 3'])
  expect(await axeViolations(ui.page)).toEqual([])
  await button('Show older versions').click()
  await expect.poll(versions).toEqual(['version 4', 'version 3', 'version 2', 'version 1'])
  ui.store.write({ 'src/a.txt': 'newer\n' })
  ui.store.run(['save', '-m', 'version 5'])
  await expect.poll(versions).toEqual(['version 5', 'version 4', 'version 3', 'version 2'])
  await button('Show older versions').click()
  await expect.poll(versions).toEqual([5, 4, 3, 2, 1, 0].map((n) => `version ${n}`))
  await button('Show older versions').waitFor({ state: 'detached' })
})

test('a version of a folder says how many of its paths the list does not have', async () => {
  await ui.show(`/files?path=src&at=${newest}`)
  const inside = ui.page.locator('.paths-inside')
  expect(await inside.locator('option').count()).toBe(20)
  expect(await axeViolations(ui.page)).toEqual([])
  await inside.getByRole('link', { name: 'and 3 others' }).click()
  await ui.page.locator('[data-view=checkpoint][data-state=ready]').waitFor()
  await ui.page.getByText(`${FILES} files`).first().waitFor()
})

test('a version with a new folder shows a file in it, and the folder is not removed', async () => {
  await ui.page.unroute('**/api/history')
  const answered = ui.page.waitForResponse(
    (answer) => answer.request().postDataJSON()?.path === 'src' && answer.url().endsWith('/patch'),
  )
  await ui.show(`/files?path=src&at=${oldest}`)
  await answered
  const selected = ui.page.locator('.version-row[aria-selected=true]')
  await selected.getByText('version 0').waitFor()
  await ui.page.locator('.file-title', { hasText: 'src/a.txt' }).waitFor()
  await ui.page.locator('[data-kind=added]').waitFor()
  expect(await selected.locator('.tag').count()).toBe(0)
})

test('a search that has found enough shows more on request', async () => {
  await ui.show('/search?q=find me')
  expect(await results()).toBe(200)
  await ui.page.getByText('The newest 200 are shown. Add a word to find fewer.').waitFor()
  expect(await axeViolations(ui.page)).toEqual([])
  await button('Show up to 1,000').click()
  await expect.poll(results).toBe(FOUND)
  await ui.page.getByText(`${FOUND} checkpoints found. All`).waitFor()
  expect(await button('Show up to 1,000').count()).toBe(0)
})
