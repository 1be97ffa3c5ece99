// Runs axe-core in a page. The DevTools protocol evaluates it, because the policy of the page allows no other script.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** One line per violating element: the rule, the element, the problem. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page)
  try {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression: `${source};\n(${RUN})()`,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails !== undefined)
      throw new Error(`axe failed: ${exceptionDetails.exception?.description ?? 'unknown'}`)
    return result.value as readonly string[]
  } finally {
    await session.detach()
  }
}

const RUN = `async () => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'] })
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, failureSummary }) =>
      [id, target.join(' '), html.slice(0, 120), failureSummary.split('\\n')[1]?.trim()].join(' | ')))
}`
