// axe finds nothing to complain about in any view or dialog, in both color schemes.
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import { agentStore, CLAUDE_SESSION } from '../support/browser/agent-store.js'
import { axeViolations } from '../support/browser/axe.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
let edit = ''
let art = ''
beforeAll(() => {
  edit = rowOf(ui.store, 'Edit src/login.ts').id
  art = rowOf(ui.store, 'Bash: make logo').id
})
afterEach(() => ui.page.emulateMedia({ colorScheme: null }))

const VIEWS: Readonly<Record<string, () => string>> = {
  timeline: () => '/',
  'checkpoint with a diff': () => `/c/${edit}?file=src/login.ts`,
  'checkpoint with images and hostile names': () => `/c/${art}?file=logo.png`,
  'checkpoint, since then': () => `/c/${edit}?tab=since`,
  'checkpoint, files': () => `/c/${edit}?tab=files`,
  'checkpoint, conversation': () => `/c/${edit}?tab=conversation`,
  'checkpoint, details': () => `/c/${edit}?tab=details`,
  sessions: () => '/sessions',
  session: () => `/s/${CLAUDE_SESSION}`,
  compare: () => `/compare?a=${edit}&b=${art}`,
  files: () => '/files',
  'file history': () => '/files?path=src/login.ts',
  search: () => '/search?q=login',
  store: () => '/store',
  'unknown checkpoint': () => '/c/bbbbbbbbbbbbbbbbbb',
}

describe.each(['light', 'dark'] as const)('%s:', (colorScheme) => {
  test.each(Object.keys(VIEWS))('%s', async (name) => {
    await ui.page.emulateMedia({ colorScheme })
    await ui.show(VIEWS[name]?.() ?? '/')
    // The answer to an unknown checkpoint is an error, which the browser logs.
    if (name === 'unknown checkpoint') ui.takeFaults()
    expect(await axeViolations(ui.page)).toEqual([])
  })

  test('restore dialog', async () => {
    await ui.page.emulateMedia({ colorScheme })
    await ui.show(`/c/${edit}`)
    await ui.page.keyboard.press('r')
    await ui.page.locator('dialog[data-dialog=restore] [data-state=ready]').waitFor()
    expect(await axeViolations(ui.page)).toEqual([])
    await ui.page.keyboard.press('Escape')
  })

  test('list of keys', async () => {
    await ui.page.emulateMedia({ colorScheme })
    await ui.show('/')
    await ui.page.keyboard.press('?')
    await ui.page.getByRole('dialog').waitFor()
    expect(await axeViolations(ui.page)).toEqual([])
    await ui.page.keyboard.press('Escape')
  })
})
