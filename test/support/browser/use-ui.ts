// Tests of one file share a store, a server and a page: starting them takes longer than most tests.
import { join } from 'node:path'
import process from 'node:process'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { PROGRAM, type Scratch } from '../../cli/program.js'
import { type GuardedPage, openGuarded, type PageOptions } from './guarded-page.js'
import { startUi, type UiServer } from './ui-server.js'

export type Ui = {
  readonly store: Scratch
  readonly server: UiServer
  readonly page: Page
  /** Shows a path of the page, such as `/store`, and waits until its view has its data. */
  show(path: string): Promise<void>
  /** Opens another tab with its own key. It is closed after the test. */
  open(options?: PageOptions): Promise<GuardedPage>
  /** For a test that causes an error on purpose. */
  takeFaults(): readonly string[]
  /** Makes the store again, with a new server and a new page, for a test that others have changed it for. */
  renew(): Promise<void>
}

export type UiOptions = PageOptions & { readonly args?: readonly string[] }

/** Call it at the top of a test file. A fault of the page that a test did not take fails that test. */
export function useUi(
  make: () => Scratch | Promise<Scratch>,
  { args = [], ...pageOptions }: UiOptions = {},
): Ui {
  let store: Scratch | undefined
  let server: UiServer | undefined
  let guarded: GuardedPage | undefined
  const others: GuardedPage[] = []

  const start = async () => {
    const { project, environment } = need(store)
    server = await startUi({ program: PROGRAM, project, environment, args })
    guarded = await openGuarded(server.url, pageOptions)
    await ready(guarded.page)
  }
  const end = async () => {
    await guarded?.[Symbol.asyncDispose]()
    await server?.stop()
  }
  beforeAll(async () => {
    store = await make()
    await start()
  })
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await keepScreenshot(need(guarded).page, task.name)
    for (const other of others.splice(0)) {
      expect(other.takeFaults()).toEqual([])
      await other[Symbol.asyncDispose]()
    }
    expect(guarded?.takeFaults()).toEqual([])
  })
  afterAll(async () => {
    await end()
    store?.[Symbol.dispose]()
  })

  return {
    get store() {
      return need(store)
    },
    get server() {
      return need(server)
    },
    get page() {
      return need(guarded).page
    },
    async show(path) {
      const { page } = need(guarded)
      await page.goto(new URL(path, need(server).origin).href)
      await ready(page)
    },
    async open(options = {}) {
      const other = await openGuarded(need(server).url, { ...pageOptions, ...options })
      others.push(other)
      await ready(other.page)
      return other
    },
    takeFaults: () => need(guarded).takeFaults(),
    async renew() {
      await end()
      store?.[Symbol.dispose]()
      store = await make()
      await start()
    },
  }
}

/** Waits until the view has what it shows; `error` and `empty` count too. */
export async function ready(page: Page): Promise<void> {
  await page.locator('[data-view]:not([data-state=loading])').first().waitFor()
}

/** Saves the page of a failed test in the folder that SAVESTATE_SCREENSHOTS names. */
async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SAVESTATE_SCREENSHOTS']
  if (folder === undefined) return
  await page.screenshot({ path: join(folder, `${name.replaceAll(/\W+/g, '-')}.png`) })
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('Only tests and hooks can use it')
  return value
}
