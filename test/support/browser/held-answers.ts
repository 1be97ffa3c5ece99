// Delays real answers of the real server, so that a test chooses the order in which they reach the page.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

export type HeldAnswers = AsyncDisposable & {
  /** Waits until this many answers of the server are held. */
  arrived(count: number): Promise<void>
  readonly count: () => number
  /** Lets one answer through, by the order of arrival. The page may have canceled it; then nothing happens. */
  release(index: number): Promise<void>
  /** Lets all of them through, and holds no more. */
  end(): Promise<void>
}

/** Holds the next answers to a method of the page, such as `start`: all, or only the first ones. */
export async function holdAnswers(
  page: Page,
  method: string,
  { only = Infinity }: { readonly only?: number } = {},
): Promise<HeldAnswers> {
  const session = await page.context().newCDPSession(page)
  const held: string[] = []
  const released = new Set<string>()
  let isEnded = false
  const letThrough = async (requestId: string) => {
    if (released.has(requestId)) return
    released.add(requestId)
    await session.send('Fetch.continueRequest', { requestId }).catch((error: unknown) => {
      if (!String(error).includes('Invalid InterceptionId')) throw error
    })
  }
  session.on('Fetch.requestPaused', ({ requestId }) => {
    held.push(requestId)
    if (isEnded || held.length > only) void letThrough(requestId)
  })
  // At this stage the server has answered, and the page does not know it yet.
  const patterns = [{ urlPattern: `*/api/${method}`, requestStage: 'Response' as const }]
  await session.send('Fetch.enable', { patterns })
  const end = async () => {
    if (isEnded) return
    isEnded = true
    for (const requestId of held) await letThrough(requestId)
    await session.send('Fetch.disable')
    await session.detach()
  }
  return {
    async arrived(count) {
      await expect.poll(() => held.length).toBeGreaterThanOrEqual(count)
    },
    count: () => held.length,
    async release(index) {
      const requestId = held[index]
      if (requestId === undefined) throw new Error(`Only ${held.length} answers have arrived`)
      await letThrough(requestId)
    },
    end,
    [Symbol.asyncDispose]: end,
  }
}
