// The page on paper, with forced colors and with more contrast.
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { rowOf } from '../support/agent-story.js'
import { agentStore, CLAUDE_SESSION, PROMPTS } from '../support/browser/agent-store.js'
import { axeViolations } from '../support/browser/axe.js'
import { pagesOf } from '../support/browser/pdf-pages.js'
import { planShown } from '../support/browser/restore-dialog.js'
import { useUi } from '../support/browser/use-ui.js'

const ui = useUi(agentStore)
const ids = { edit: '', table: '' }
beforeAll(() => {
  ids.edit = rowOf(ui.store, 'Edit src/login.ts').id
  ids.table = rowOf(ui.store, 'Bash: node generate.mjs > src/table.ts').id
})
afterEach(async () => {
  await ui.page.emulateMedia({ media: null, colorScheme: null, forcedColors: null, contrast: null })
  await ui.page.setViewportSize({ width: 1280, height: 800 })
})

/** The width of A4 and of US Letter, less the margins that browsers choose. */
const PAPER = { width: 718, height: 1047 }

/** The text of elements that are cut by an ancestor, drawn outside of the page, or drawn over by another text. */
const CUT = `(() => {
  const faults = []
  const texts = document.createTreeWalker(document.querySelector('dialog[open]') ?? document.querySelector('#main'), NodeFilter.SHOW_TEXT)
  const boxes = []
  const cutting = new Map()
  const cuts = (above) => {
    const { overflowX, overflowY } = getComputedStyle(above)
    if (overflowX === 'visible' && overflowY === 'visible') return false
    return above.scrollWidth > above.clientWidth + 1 || above.scrollHeight > above.clientHeight + 1
  }
  while (texts.nextNode()) {
    const node = texts.currentNode
    const element = node.parentElement
    if (node.data.trim() === '' || element.closest('.visually-hidden') !== null) continue
    if (!element.checkVisibility({ visibilityProperty: true })) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const box of range.getClientRects()) {
      if (box.width < 1) continue
      if (box.left < -1 || box.right > innerWidth + 1) faults.push('outside: ' + node.data)
      boxes.push({ box, element, text: node.data })
    }
    for (let above = element; above !== null; above = above.parentElement) {
      if (!cutting.has(above)) cutting.set(above, cuts(above))
      if (cutting.get(above))
        faults.push('cut by ' + above.className + ': ' + node.data.slice(0, 80))
    }
  }
  boxes.sort((a, b) => a.box.top - b.box.top)
  for (let at = 0; at < boxes.length; at += 1)
    for (let next = at + 1; next < boxes.length && boxes[next].box.top < boxes[at].box.bottom - 2; next += 1) {
      const [one, other] = [boxes[at].box, boxes[next].box]
      if (one.left < other.right - 2 && other.left < one.right - 2)
        faults.push('over each other: ' + boxes[at].text.slice(0, 40) + ' | ' + boxes[next].text.slice(0, 40))
    }
  return [...new Set(faults)]
})()`

/** Fields that say what the view is about are not among them. */
const CONTROLS = `[...document.querySelectorAll('button, input, select, textarea, summary, nav, [role=tab]')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }))
  .filter((one) => !one.matches('.fold, .link-button, .project-picker, [role=combobox], [type=search], .checkpoint-line > .text-button'))
  .map((one) => one.outerHTML.slice(0, 120))`

describe('on paper', () => {
  const VIEWS: Readonly<Record<string, () => { path: string; ready: string; texts: string[] }>> = {
    timeline: () => ({
      path: '/',
      ready: '[role=row][data-id]',
      texts: [
        PROMPTS.login,
        PROMPTS.codex,
        'node generate.mjs > src/table.ts',
        'before-release',
        'you are here',
      ],
    }),
    checkpoint: () => ({
      path: `/c/${ids.edit}?file=src/login.ts`,
      ready: '[data-line]',
      texts: ['src/sso.ts', PROMPTS.login, 'export async function login'],
    }),
    'checkpoint, details': () => ({
      path: `/c/${ids.edit}?tab=details`,
      ready: '.details',
      texts: ['recording.raw', 'git --git-dir'],
    }),
    session: () => ({
      path: `/s/${CLAUDE_SESSION}`,
      ready: '[data-item]',
      texts: [
        PROMPTS.login,
        PROMPTS.tests,
        'I will look at',
        'test 29: ok',
        'Done: twelve tests, all green.',
      ],
    }),
    'checkpoint, files': () => ({
      path: `/c/${ids.edit}?tab=files&file=src/login.ts`,
      ready: '.diff-line',
      texts: ['session.ts', 'recording.raw', 'export async function login'],
    }),
    'checkpoint, conversation': () => ({
      path: `/c/${ids.table}?tab=conversation`,
      ready: '[data-item]',
      texts: [PROMPTS.login, 'test 29: ok'],
    }),
    store: () => ({
      path: '/store',
      ready: '.store-table',
      texts: [ui.store.project, 'Never pruned.', 'Without hooks: claude', 'It does not run.'],
    }),
    since: () => ({
      path: `/c/${ids.edit}?tab=since`,
      ready: '[data-line]',
      texts: ['src/table.ts', 'notes.txt'],
    }),
    'file history': () => ({
      path: '/files?path=src/login.ts',
      ready: '[data-line]',
      texts: ['Edit src/login.ts', 'export async function login'],
    }),
    compare: () => ({
      path: `/compare?a=${ids.edit}&b=${ids.table}`,
      ready: '[data-line]',
      texts: ['src/table.ts', 'Only in B'],
    }),
    sessions: () => ({ path: '/sessions', ready: '[data-session]', texts: [PROMPTS.codex] }),
    search: () => ({ path: '/search?q=login', ready: '.search-result', texts: [PROMPTS.tests] }),
  }

  test.each(Object.keys(VIEWS))('%s: nothing is cut, and there are no controls', async (name) => {
    const view = VIEWS[name]?.()
    if (view === undefined) throw new Error(name)
    await ui.page.setViewportSize(PAPER)
    await ui.show(view.path)
    await ui.page.locator(view.ready).first().waitFor()
    await ui.page.emulateMedia({ media: 'print' })
    for (const part of view.texts) await expect.poll(mainText).toContain(part)
    expect(await ui.page.evaluate(CUT)).toEqual([])
    expect(await ui.page.evaluate(CONTROLS)).toEqual([])
  })

  test('an open restore dialog is printed alone and as a whole, with the opened difference', async () => {
    const { page } = ui
    await page.setViewportSize(PAPER)
    await ui.show(`/c/${rowOf(ui.store, `You: ${PROMPTS.login}`).id}`)
    await page.keyboard.press('r')
    const dialog = await planShown(page)
    await dialog.locator('[data-path="src/login.ts"] .plan-path').click()
    await dialog.locator('[data-preview] [data-line]').first().waitFor()
    const paths = await dialog.locator('[data-path]').count()
    await page.emulateMedia({ media: 'print' })
    expect(await page.evaluate(CUT)).toEqual([])
    expect(await page.locator('.rail, #main, .header').filter({ visible: true }).count()).toBe(0)
    expect(await dialog.locator('[data-path]').filter({ visible: true }).count()).toBe(paths)
    expect(await dialog.locator('.button').filter({ visible: true }).count()).toBe(0)
    const { scrollHeight, clientHeight } = await page.evaluate<Record<string, number>>(
      `(({ scrollHeight, clientHeight }) => ({ scrollHeight, clientHeight }))(document.querySelector('dialog'))`,
    )
    expect(clientHeight).toBe(scrollHeight)
    await page.emulateMedia({ media: null })
    await page.keyboard.press('Escape')
  })

  test('a chosen dark theme is dark on white', async () => {
    const { page } = ui
    await ui.show('/')
    await page.evaluate(`document.documentElement.dataset.theme = 'dark'`)
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    const colors = `['--text', '--bg'].map((name) => {
      const probe = document.body.appendChild(document.createElement('i'))
      probe.style.color = 'var(' + name + ')'
      const { color } = getComputedStyle(probe)
      probe.remove()
      return color
    })`
    expect(await page.evaluate(colors)).toEqual(['rgb(27, 31, 36)', 'rgb(255, 255, 255)'])
    await page.emulateMedia({ media: null, colorScheme: 'dark' })
    expect(await page.evaluate(colors)).toEqual(['rgb(230, 233, 238)', 'rgb(20, 22, 26)'])
  })

  test('a real print has all lines, and the page is as before afterwards', async () => {
    const { page } = ui
    await ui.show(`/c/${ids.table}?file=src/table.ts`)
    await page.locator('[data-line]').first().waitFor()
    const before = await page.locator('[data-line]').count()
    await page.emulateMedia({ media: 'print' })
    const limit = page.getByText('Only the first 2,000 lines of 3,000 are printed.')
    await limit.waitFor()
    expect(await page.locator('[data-line]').count()).toBe(2000)
    await page.emulateMedia({ media: null })
    await limit.waitFor({ state: 'detached' })
    const pdf = await page.pdf({ format: 'A4' })
    // 2,000 lines of a patch, 50 to 60 on a page.
    expect(pagesOf(pdf)).toBeGreaterThan(30)
    await expect.poll(() => page.locator('[data-line]').count()).toBe(before)
  })

  test.each(['end', 'start'])(
    'a conversation is at its %s after a print, as before',
    async (place) => {
      const { page } = ui
      await ui.show(`/s/${CLAUDE_SESSION}${place === 'end' ? '' : '?at=0'}`)
      await page.locator('[data-item]').first().waitFor()
      const visible = () =>
        page.evaluate<readonly string[]>(`(() => {
        const box = document.querySelector('.feed').getBoundingClientRect()
        return [...document.querySelectorAll('.feed-item')].filter((item) => {
          const { top, bottom } = item.getBoundingClientRect()
          return bottom > box.top && top < box.bottom
        }).map((item) => item.getAttribute('aria-label'))
      })()`)
      const first = place === 'end' ? 'End of the conversation' : 'Item 1'
      await expect.poll(visible).toContain(first)
      const before = await visible()
      expect(pagesOf(await page.pdf({ format: 'A4' }))).toBeGreaterThan(1)
      await expect.poll(visible).toEqual(before)
    },
  )
})

const mainText = () => ui.page.locator('#main').innerText()

const MEDIA = [
  { forcedColors: 'active', contrast: null, colorScheme: 'dark' },
  { forcedColors: 'active', contrast: null, colorScheme: 'light' },
  { forcedColors: null, contrast: 'more', colorScheme: 'light' },
  { forcedColors: null, contrast: 'more', colorScheme: 'dark' },
] as const

test.each([
  '/',
  'changed',
  'since',
  'files tab',
  'details',
  'compare',
  '/files?path=src/login.ts',
  `/s/${CLAUDE_SESSION}`,
  '/sessions',
  '/store',
  '/search?q=login',
])('with forced colors and with more contrast, %s is readable in both schemes', async (name) => {
  const paths: Readonly<Record<string, string>> = {
    changed: `/c/${ids.edit}?file=src/login.ts`,
    since: `/c/${ids.edit}?tab=since`,
    'files tab': `/c/${ids.edit}?tab=files&file=src/login.ts`,
    details: `/c/${ids.edit}?tab=details`,
    compare: `/compare?a=${ids.edit}&b=${ids.table}`,
  }
  await ui.show(paths[name] ?? name)
  for (const media of MEDIA) {
    await ui.page.emulateMedia(media)
    const enhanced = media.contrast === 'more'
    expect(await axeViolations(ui.page, { colorsOnly: true, enhanced })).toEqual([])
  }
})

describe('forced colors:', () => {
  /** The computed styles that show a state where the page's own colors are gone. */
  const lookOf = (selector: string) =>
    ui.page.evaluate<string>(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)})
      const of = (pseudo) => {
        const s = getComputedStyle(element, pseudo)
        return [s.outlineStyle, s.outlineWidth, s.outlineColor, s.borderLeftColor, s.borderBottomColor,
          s.borderTopColor, s.borderRadius, s.backgroundColor, s.color, s.fontWeight, s.textDecorationLine, s.content, s.width].join(' ')
      }
      return [of(null), of('::before'), of('::after')].join(' | ')
    })()`)
  const differ = async (one: string, other: string) => {
    for (const selector of [one, other]) await ui.page.locator(selector).first().waitFor()
    expect(await lookOf(one), `${one} has the styles of ${other}`).not.toBe(await lookOf(other))
  }
  const force = () => ui.page.emulateMedia({ forcedColors: 'active' })

  test('the current view, the current tab, the selected file and the layout of the diff', async () => {
    await force()
    await ui.show(`/c/${ids.edit}?file=src/login.ts`)
    await ui.page.locator('[data-line]').first().waitFor()
    await differ('.rail a[aria-current]', '.rail a:not([aria-current])')
    await differ('[role=tab][aria-selected=true]', '[role=tab][aria-selected=false]')
    await differ('.file-row[aria-selected=true]', '.file-row[aria-selected=false]')
    await differ('.choice button[aria-pressed=true]', '.choice button[aria-pressed=false]')
    await differ('ins.diff-word', '.diff-code')
  })

  test('the row with the focus, whether the page is live, and the place of the folder', async () => {
    const { page } = ui
    await force()
    await ui.show('/')
    await page.locator('[data-live=on]').waitFor()
    await page.keyboard.press('j')
    await page.locator('[role=row]:focus').waitFor()
    await differ('[role=row]:focus', '[role=row][data-id]:not(:focus)')
    await differ('.tl-row[data-here] .tl-node', '.tl-row[data-type=step]:not([data-here]) .tl-node')
    const on = await lookOf('.live-dot')
    await page.context().setOffline(true)
    await ui.server.stop('SIGKILL')
    await page.locator('[data-live=off]').waitFor()
    expect(await lookOf('.live-dot')).not.toBe(on)
    await page.context().setOffline(false)
    ui.takeFaults()
    await ui.renew()
  })

  test('in the restore dialog: ticked files, a switch that is on, the button that cannot be pressed', async () => {
    const { page } = ui
    await force()
    await ui.show(`/c/${rowOf(ui.store, `You: ${PROMPTS.tests}`).id}`)
    await page.keyboard.press('r')
    await planShown(page)
    expect(await axeViolations(page)).toEqual([])
    const enabled = await lookOf('[data-action=apply]')
    const on = await lookOf('dialog [role=switch]')
    for (const box of await page.locator('dialog [data-path] [type=checkbox]').all())
      if (await box.isChecked()) await box.uncheck()
    expect(await lookOf('[data-action=apply]')).not.toBe(enabled)
    await page.locator('dialog [role=switch]').first().click()
    await planShown(page)
    expect(await lookOf('dialog [role=switch]')).not.toBe(on)
    await page.keyboard.press('Escape')
  })

  test('every stop of the Tab key shows the focus', async () => {
    const { page } = ui
    await force()
    for (const path of ['/', `/c/${ids.edit}?file=src/login.ts`, `/s/${CLAUDE_SESSION}`]) {
      await ui.show(path)
      const without = new Set<string>()
      for (let stop = 0; stop < 25; stop += 1) {
        await page.keyboard.press('Tab')
        const fault = await page.evaluate<string | null>(`(() => {
          const element = document.activeElement
          if (element === document.body) return null
          const { outlineStyle, outlineWidth } = getComputedStyle(element)
          return outlineStyle === 'none' || outlineWidth === '0px' ? element.outerHTML.slice(0, 120) : null
        })()`)
        if (fault !== null) without.add(fault)
      }
      expect([...without]).toEqual([])
    }
  })
})
