// A page that records everything a page of ours must never do: a request to another origin, a violation of its
// Content-Security-Policy, an error on the console, an uncaught error.
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { browser } from './browser.js'

export type PageOptions = Pick<
  BrowserContextOptions,
  'colorScheme' | 'viewport' | 'reducedMotion' | 'forcedColors' | 'permissions'
>

export type GuardedPage = AsyncDisposable & {
  readonly page: Page
  readonly context: BrowserContext
  /** The faults since the last call. */
  takeFaults(): readonly string[]
}

/** Opens a tab of its own context at the address. */
export async function openGuarded(url: string, options: PageOptions = {}): Promise<GuardedPage> {
  const started = await browser()
  const context = await started.newContext({
    viewport: { width: 1280, height: 800 },
    // The few animations cost more time than the tests around them.
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  let faults: string[] = []
  const { origin } = new URL(url)
  const checkAddress = (address: string) => {
    const { protocol, origin: to } = new URL(address)
    const isLocal = protocol === 'blob:' || protocol === 'data:' || protocol === 'about:'
    if (to !== origin && !isLocal) faults.push(`request to ${address}`)
  }
  context.on('request', (request) => checkAddress(request.url()))
  // The browser reports violations of the policy, including those of Trusted Types, on the console.
  context.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`)
  })
  context.on('weberror', (error) => faults.push(`uncaught: ${error.error().message}`))
  page.on('websocket', (socket) => faults.push(`websocket to ${socket.url()}`))
  page.on('crash', () => faults.push('the page crashed'))
  await page.goto(url)
  return {
    page,
    context,
    takeFaults() {
      const taken = faults
      faults = []
      return taken
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}
