// Characters that hide or reorder text, in the paths of files: also what a screen reader and a tooltip say shows them as codes.
import { expect, test } from 'vitest'
import { rowOf } from '../../support/agent-story.js'
import { agentStore, HOSTILE_FILES } from '../../support/browser/agent-store.js'
import { DIALOG, planShown } from '../../support/browser/restore-dialog.js'
import { useUi } from '../../support/browser/use-ui.js'

const ui = useUi(agentStore)
const path = HOSTILE_FILES[1]
const SHOWN = String.raw`photo-\u202egnp.js`
const art = () => rowOf(ui.store, 'Bash: make logo').id

const ATTRIBUTES = ['aria-label', 'title', 'alt', 'placeholder']

/** The attributes that are read or shown: those with a hidden character, and the expected ones that are not there. */
async function faultsIn(element: string, expected: readonly string[]) {
  const found = await ui.page.evaluate<
    readonly string[]
  >(`${JSON.stringify(ATTRIBUTES)}.flatMap((name) =>
    [...document.querySelectorAll('${element} [' + name + ']')].map((one) => one.getAttribute(name)))`)
  return {
    hidden: found.filter((one) => one.includes('\u202E')),
    missing: expected.filter((one) => !found.includes(one)),
  }
}
const NONE = { hidden: [], missing: [] }

test('in the diff of a checkpoint, a file as it was, and the history of a file', async () => {
  const file = encodeURIComponent(path)
  const inDiff = [`Changes of ${SHOWN}`, `Contents of ${SHOWN}`, SHOWN]
  for (const [address, expected] of [
    [`/c/${art()}?file=${file}`, inDiff],
    [`/c/${art()}?tab=files&file=${file}`, [SHOWN, `Contents of ${SHOWN}`]],
    [`/files?path=${file}`, inDiff],
  ] as const) {
    await ui.show(address)
    await ui.page.locator('[data-line]').first().waitFor()
    expect(await faultsIn('main', expected)).toEqual(NONE)
  }
})

test('in the restore dialog with the changes of a file', async () => {
  const { page } = ui
  await ui.show(`/c/${rowOf(ui.store, 'Bash: npm test').id}`)
  await page.getByRole('button', { name: 'Restore…' }).click()
  const dialog = await planShown(page)
  await dialog.locator('.plan-path', { hasText: 'photo-' }).click()
  await dialog.locator('[data-preview] [data-line]').first().waitFor()
  const expected = [
    `remove: ${SHOWN}`,
    `Show what changed in ${SHOWN}`,
    `What changed in ${SHOWN}`,
    `Contents of ${SHOWN}`,
  ]
  expect(await faultsIn(DIALOG, expected)).toEqual(NONE)
})
