// Runs axe-core in a page. The DevTools protocol evaluates it, because the policy of the page allows no other script.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export type AxeOptions = {
  /** Only the rules about colors: all others give the same result in each color scheme. */
  readonly colorsOnly?: boolean
  /** Text must have a contrast of 7:1, as for users who ask for more. */
  readonly enhanced?: boolean
}

/** One line per violating element: the rule, the element, the problem. */
export async function axeViolations(
  page: Page,
  { colorsOnly = false, enhanced = false }: AxeOptions = {},
): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page)
  const evaluate = async (expression: string) => {
    const options = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', options)
    if (exceptionDetails !== undefined)
      throw new Error(`axe failed: ${exceptionDetails.exception?.description ?? 'unknown'}`)
    return result.value as unknown
  }
  try {
    // The page keeps it until it is loaded again.
    if ((await evaluate('typeof axe')) === 'undefined') await evaluate(`${source};0`)
    return (await evaluate(`(${RUN})(${colorsOnly}, ${enhanced})`)) as readonly string[]
  } finally {
    await session.detach()
  }
}

/** All rules in the light scheme, and those about colors in the dark one. The scheme is the system's afterwards. */
export async function axeInBothSchemes(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const inLight = await axeViolations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const inDark = await axeViolations(page, { colorsOnly: true })
  await page.emulateMedia({ colorScheme: null })
  return [...inLight, ...inDark.map((one) => `dark: ${one}`)]
}

const RUN = `async (colorsOnly, enhanced) => {
  const only = colorsOnly ? { runOnly: { type: 'tag', values: ['cat.color'] } } : {}
  const rules = { 'color-contrast-enhanced': { enabled: enhanced } }
  const { violations } = await axe.run(document, { resultTypes: ['violations'], rules, ...only })
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, failureSummary }) =>
      [id, target.join(' '), html.slice(0, 120), failureSummary.split('\\n')[1]?.trim()].join(' | ')))
}`
