// `savestate ui --export`: one file that opens without a server and without a network.
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Ended, Scratch } from '../../cli/program.js'
import { agentStore, CLAUDE_SESSION, PROMPTS, SECRET } from '../../support/browser/agent-store.js'
import { rowOf } from '../../support/agent-story.js'
import { axeInBothSchemes } from '../../support/browser/axe.js'
import { browser } from '../../support/browser/browser.js'

let s: Scratch
let page: Page
const faults: string[] = []
let file: string
let made: Ended

beforeAll(async () => {
  s = agentStore()
  writeFileSync(join(s.project, 'banner.png'), Buffer.alloc(200_001))
  s.run(['save', '-m', 'large image'])
  file = join(s.folder, 'work.html')
  made = s.run(['ui', '--export', file])
  const context = await (await browser()).newContext({ offline: true })
  page = await context.newPage()
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('request', (request) => {
    if (!/^(?:file|blob|data):/.test(request.url())) faults.push(request.url())
  })
})
afterAll(async () => {
  await page.context().close()
  s[Symbol.dispose]()
})

const show = async (path: string) => {
  await page.goto('about:blank')
  await page.goto(`${pathToFileURL(file).href}#${path}`)
  await page.locator('[data-view]:not([data-state=loading])').first().waitFor()
}

test('the result names the file, its size, and what is masked', () => {
  expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
  expect(made.stdout).toMatch(
    /^Written: .*work\.html, [\d.]+ [KM]B, \d+ checkpoints\n(?:Left out: .*\n)?Secrets with a known shape are masked\. /,
  )
})

test('only the user may read the file, and it has no secret', () => {
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  const content = readFileSync(file, 'utf8')
  expect(content).not.toContain(SECRET)
  expect(content).not.toContain('<img src=x')
})

test('the timeline, a checkpoint with its diff, and the conversation are in it', async () => {
  await show('/')
  await page.getByRole('row').filter({ hasText: PROMPTS.login }).first().waitFor()
  await page.getByText('This file was made by Savestate').waitFor()
  const { checkpoints } = s.json(['list']) as {
    readonly checkpoints: readonly { readonly id: string; readonly reason: string }[]
  }
  const edit = checkpoints.find(({ reason }) => reason.includes('login.ts'))?.id ?? ''
  await show(`/c/${edit}`)
  await page.getByText("import { verifyTicket } from './sso.js'").first().waitFor()
  await show(`/s/${CLAUDE_SESSION}`)
  await page.getByText('the key is ••••••').first().waitFor()
  expect(await page.getByRole('checkbox', { name: 'show secrets' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'restore…' }).count()).toBe(0)
  await page.locator('main').getByRole('link', { name: 'open', exact: true }).first().click()
  await page.locator('[data-view=checkpoint]').waitFor()
})

test('images are in it, other files that are not text are not, and nothing offers a download', async () => {
  const at = `/c/${rowOf(s, 'Bash: make logo').id}`
  await show(`${at}?file=logo.png`)
  const pictures = page.locator('.picture')
  await pictures.getByText('After: 8 × 8').waitFor()
  await pictures.getByText('Before: 8 × 8').waitFor()
  expect(await page.getByRole('button', { name: 'Download' }).count()).toBe(0)
  await show(`${at}?file=data.bin`)
  await page.getByText('A binary file.').waitFor()
  expect(await page.getByRole('button', { name: 'Download' }).count()).toBe(0)
  await show(`/c/${rowOf(s, 'large image').id}?file=banner.png`)
  await page.getByText('This image is not part of this file').waitFor()
  await page.getByText('It has the newest images of up to 200 kB each.').waitFor()
  await show(`${at}?tab=files&file=README.md`)
  const answers = page.getByRole('alert').filter({ hasText: 'This is not part of this file' })
  await expect.poll(() => answers.count()).toBe(2)
  expect(await page.getByText('without its key').count()).toBe(0)
})

test('a view that needs the store says that it is not part of the file', async () => {
  await show('/store')
  await page.getByText('This is not part of this file').first().waitFor()
  expect(await page.locator('[data-view=store]').getAttribute('data-state')).toBe('error')
})

test('axe finds nothing in it', async () => {
  await show(`/s/${CLAUDE_SESSION}`)
  expect(await axeInBothSchemes(page)).toEqual([])
})

test('an earlier export is replaced, any other file is not', () => {
  expect(s.run(['ui', '--export', file]).code).toBe(0)
  const other = join(s.folder, 'other.html')
  writeFileSync(other, 'mine')
  const pipe = join(s.folder, 'pipe.html')
  execFileSync('mkfifo', [pipe])
  for (const path of [other, s.project, pipe, join(s.folder, 'no-such-folder', 'x.html')]) {
    const { code, stderr } = s.run(['ui', '--export', path])
    expect(code).not.toBe(0)
    expect(stderr).toContain('Choose another')
  }
  expect(readFileSync(other, 'utf8')).toBe('mine')
})

test('no request left the file, and nothing failed in it', () => {
  expect(faults).toEqual([])
})
