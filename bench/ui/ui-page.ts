/** The page in a real browser, and the scripts that measure inside of it. They are text: the benchmark has no types of the DOM. */
import type { CDPSession, Page } from 'playwright-core'
import { browser } from '../../test/support/browser/browser.js'
import { startUi, type UiServer } from '../../test/support/browser/ui-server.js'
import type { Bench } from '../bench.js'
import { MEGABYTE } from '../row.js'
import { cliPath } from '../sdk.js'
import { type UiStore, uiStore } from './ui-store.js'

export interface OpenUi {
  readonly page: Page
  readonly devtools: CDPSession
  readonly store: UiStore
}

/** Runs work with a server of its own and a page that has nothing cached. */
export async function withUi<T>(bench: Bench, work: (ui: OpenUi) => Promise<T>): Promise<T> {
  const store = await uiStore(bench)
  const server = await startServer(store)
  const started = await browser()
  const context = await started.newContext({ viewport: { width: 1280, height: 800 } })
  try {
    const page = await context.newPage()
    await page.addInitScript(RECORD)
    const devtools = await context.newCDPSession(page)
    await page.goto(server.url)
    await timeInPage(page, { action: '', until: 'window.uiReadyMs !== undefined' })
    return await work({ page, devtools, store })
  } finally {
    await context.close()
    await server.stop()
  }
}

export function startServer({ project, environment }: UiStore): Promise<UiServer> {
  return startUi({ program: cliPath, project, environment })
}

/** Runs before the page's own code. `uiReadyMs`: when the rows of the first answer are drawn. */
const RECORD = `
  const observer = new MutationObserver(() => {
    if (document.querySelector('[data-view=timeline][data-state=ready] [role=row][data-id]') === null) return
    observer.disconnect()
    // After the next frame they are drawn.
    requestAnimationFrame(() => setTimeout(() => { window.uiReadyMs = performance.now() }))
  })
  observer.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-state'] })
`

/** The milliseconds from an action in the page until a condition is true. Both are expressions. */
export async function timeInPage(
  page: Page,
  { action, until }: { readonly action: string; readonly until: string },
): Promise<number> {
  return page.evaluate(`new Promise((resolve, reject) => {
    const start = performance.now()
    const check = () => {
      if (${until}) resolve(performance.now() - start)
      else if (performance.now() - start > 60_000) reject(new Error(${JSON.stringify(until)}))
      else requestAnimationFrame(check)
    }
    ${action}
    check()
  })`)
}

/** As a link of the page does it. */
export function goTo(path: string): string {
  return `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'));`
}

/** After a garbage collection. */
export async function heapMegabytes({ devtools }: Pick<OpenUi, 'devtools'>): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage')
  await devtools.send('Performance.enable')
  const { metrics } = await devtools.send('Performance.getMetrics')
  const used = metrics.find(({ name }) => name === 'JSHeapUsedSize')
  if (used === undefined) throw new Error('The browser reports no heap size')
  return used.value / MEGABYTE
}
