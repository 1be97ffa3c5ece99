// The store view in a real browser: a store above its limit, an undo that a prune would forget, failures, hooks, watches, the daemon.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { setStore } from '../../cli/commands/maintenance-helpers.js'
import type { Scratch } from '../../cli/program.js'
import { daemonScratch } from '../../daemon/daemon-helpers.js'
import { DAY_MS, HandClock } from '../../engine/prune/prune-helpers.js'
import { axeInBothSchemes } from '../../support/browser/axe.js'
import { useUi } from '../../support/browser/use-ui.js'

/** A checkpoint that no prune can remove, and in another folder a rewind of 40 days ago. */
async function makeStore(): Promise<Scratch> {
  const s = daemonScratch({ 'a.txt': 'one\n' })
  setStore(s, { maxSizeMb: 1, autoPrune: false })
  const clock = new HandClock()
  clock.pass(-40 * DAY_MS)
  const store = await openStore({ home: s.home, durability: 'process', inProcess: true, clock })
  const large = join(s.folder, 'large')
  mkdirSync(large)
  writeFileSync(join(large, 'noise.bin'), randomBytes(2_000_000))
  await (await store.project(large)).save()
  await store.prune()
  const project = await store.project(s.project)
  const { id } = await project.save()
  for (const content of ['two\n', 'three\n']) {
    s.write({ 'a.txt': content })
    await project.rewind(id)
  }
  await store.close()
  return s
}

const ui = useUi(makeStore)
const section = (name: string) => ui.page.getByRole('region', { name })
const press = (key: string) => ui.page.keyboard.press(key)

async function show(): Promise<void> {
  await ui.show('/store')
  await ui.page.locator('[data-view=store][data-state=ready]').waitFor()
}

test('a store above its limit says by how much, what keeps it there, and what to do', async () => {
  await show()
  const note = ui.page.locator('.store-note[data-note=warn]')
  expect(await note.innerText()).toMatch(
    /^The store is [\d.]+ MB over its limit\. The last prune had to keep what is left: pinned/,
  )
  expect(await note.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/\/large 2\.\d MB$/),
  ])
  await note.getByText('savestate config set maxSizeMb 5000').waitFor()
  const meter = ui.page.getByRole('meter', { name: 'Size of the store' })
  expect(await meter.getAttribute('aria-valuenow')).toBe('100')
  expect(await meter.getAttribute('aria-valuetext')).toMatch(/^2\d\d percent of the limit$/)
  expect(await axeInBothSchemes(ui.page)).toEqual([])
})

test('by keyboard: the preview of a prune names the undo that it would forget, and the check runs', async () => {
  const { page } = ui
  await show()
  await page.getByLabel('Size limit in MB').focus()
  await page.keyboard.type('3')
  await press('Tab')
  await page.locator('input:focus').waitFor()
  await press('Enter')
  await page.getByText('savestate prune --max-size-mb 3').waitFor()
  const preview = page.locator('.store-preview')
  await preview
    .getByText(`The last rewind of ${ui.store.project} could no longer be undone.`)
    .waitFor()
  expect(await axeInBothSchemes(ui.page)).toEqual([])
  for (const name of ['Check quickly', 'Check completely']) {
    const button = page.getByRole('button', { name })
    await button.focus()
    await press('Enter')
    await page.getByText(/the store is intact\.$/).waitFor()
    await page.reload()
    await page.locator('[data-view=store][data-state=ready]').waitFor()
  }
})

test('a failure that no caller saw, and hooks whose configuration cannot be read', async () => {
  const { store: s } = ui
  expect(s.run(['hook', 'claude', 'Stop'], { input: '{' })).toMatchObject({ code: 0 })
  s.write({ '../user/.claude/settings.json': '{' })
  await show()
  const health = section('Health')
  await health.locator('.store-problems li', { hasText: 'BAD_INPUT' }).waitFor()
  const claude = health.locator('.store-hooks li', { hasText: 'claude' })
  expect(await claude.innerText()).toBe('! claude Its configuration cannot be read')
  expect(await axeInBothSchemes(ui.page)).toEqual([])
})

test('a watched folder, and one that the system cannot watch', async () => {
  const { store: s } = ui
  const watching = s.start(['watch'])
  await expect.poll(() => noteOf(s.home)).toBeDefined()
  await show()
  const line = section('Health').locator('p', { hasText: s.project })
  expect(await line.innerText()).toMatch(/ is watched by process \d+\.$/)
  // As the process writes it when the system has no watches left.
  const note = noteOf(s.home) ?? ''
  const report = JSON.parse(readFileSync(note, 'utf8'))
  writeFileSync(note, JSON.stringify({ ...report, isWatching: false, doubt: 'watch-limit' }))
  await show()
  expect(await line.innerText()).toBe(
    `${s.project} cannot be watched, so every save scans all of it (watch-limit).`,
  )
  watching.kill('SIGINT')
  await watching.ended
})

/** The note of the process that watches the project. */
function noteOf(home: string): string | undefined {
  const all = readdirSync(home, { recursive: true, withFileTypes: true })
  const found = all.find(
    ({ parentPath, name }) => /watch/.test(parentPath) && /^[a-z]{18}$/.test(name),
  )
  return found === undefined ? undefined : join(found.parentPath, found.name)
}

test('the background process runs or does not run', async () => {
  const { store: s } = ui
  s.json(['daemon', 'stop'])
  await show()
  const health = section('Health')
  await health.getByText('It does not run. The first hook starts it.').waitFor()
  const { pid } = s.json(['daemon', 'start']) as { readonly pid: number }
  await show()
  await health.getByText(`✓ Process ${pid} runs and makes hooks fast.`).waitFor()
  expect(await axeInBothSchemes(ui.page)).toEqual([])
  s.json(['daemon', 'stop'])
})
