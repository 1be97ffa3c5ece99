// The restore dialog as tests use it.
import type { Locator, Page } from 'playwright-core'

export const DIALOG = 'dialog[data-dialog=restore]'

export type PlanRow = {
  readonly action: string
  readonly path: string
  readonly ticked: boolean
}

/** Waits until the dialog shows a complete plan. */
export async function planShown(page: Page): Promise<Locator> {
  const dialog = page.locator(DIALOG)
  await dialog.locator('[data-state=ready]').waitFor()
  return dialog
}

/** The lines of the shown plan, by path. */
export async function planRows(page: Page): Promise<readonly PlanRow[]> {
  await planShown(page)
  const rows = await page.evaluate<readonly PlanRow[]>(
    `[...document.querySelectorAll('${DIALOG} [data-path]')].map(({ dataset }) => (
      { action: dataset.action, path: dataset.path, ticked: dataset.ticked === 'true' }))`,
  )
  return rows.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** The button that carries the plan out. */
export function applyButton(page: Page): Locator {
  return page.locator(`${DIALOG} [data-action=apply]`)
}

/** Presses it, and waits until the dialog has closed. */
export async function applyPlan(page: Page): Promise<void> {
  await planShown(page)
  await applyButton(page).click()
  await page.locator(DIALOG).waitFor({ state: 'detached' })
}

export function undoBar(page: Page): Locator {
  return page.locator('[data-bar=undo]')
}
