/** `savestate ui`: opening a checkpoint with a large patch, and a conversation of 50 MB. */
import { LONG_SESSION } from '../../test/support/browser/large-stores.js'
import type { Bench } from '../bench.js'
import { median } from '../measure.js'
import { atMost, type Row } from '../row.js'
import { goTo, heapMegabytes, timeInPage, withUi } from '../ui/ui-page.js'
import { LINES } from '../ui/ui-store.js'

const MAX_PATCH_MS = 250
const MAX_END_MS = 600
const MAX_MIDDLE_MS = 300
const MAX_HEAP_MEGABYTES = 120

const TIMELINE_SHOWN = `document.querySelector('[data-view=timeline][data-state=ready]') !== null`

export const uiPatch: Row = {
  name: 'ui-patch-1mb',
  measure: (bench) =>
    withUi(bench, async ({ page, store }) => {
      bench.log('openings of a checkpoint with a patch of 1 MB')
      const { id, path } = store.patch
      const times: number[] = []
      for (let round = 0; round < repetitions(bench); round += 1) {
        times.push(
          await timeInPage(page, {
            action: goTo(`/c/${id}?file=${path}`),
            until: `document.querySelector('[data-view=checkpoint] [data-line]') !== null`,
          }),
        )
        await timeInPage(page, { action: goTo('/'), until: TIMELINE_SHOWN })
      }
      return atMost(MAX_PATCH_MS, {
        ours: median(times),
        unit: 'ms',
        detail: `until its first lines are drawn; median, the first one ${times[0]?.toFixed(0)}`,
      })
    }),
}

const SESSION = `/s/${LONG_SESSION}`
/** A mounted item whose number is in the range, in the visible part of the page. */
const isShown = (
  from: number,
  to: number,
) => `[...document.querySelectorAll('[data-item]')].some((item) => {
  const { top, bottom } = item.getBoundingClientRect()
  const index = Number(item.dataset.item)
  return index >= ${from} && index <= ${to} && bottom > 0 && top < innerHeight && item.textContent.length > 10
})`
const END_SHOWN = isShown(LINES - 20, LINES)
const MIDDLE_SHOWN = isShown(LINES * 0.4, LINES * 0.6)

export const uiConversationEnd: Row = {
  name: 'ui-conversation-end',
  measure: (bench) =>
    withUi(bench, async ({ page }) => {
      bench.log('openings of a conversation of 50 MB')
      const times: number[] = []
      for (let round = 0; round < repetitions(bench); round += 1) {
        times.push(await timeInPage(page, { action: goTo(SESSION), until: END_SHOWN }))
        await timeInPage(page, { action: goTo('/'), until: TIMELINE_SHOWN })
      }
      return atMost(MAX_END_MS, {
        ours: median(times),
        unit: 'ms',
        detail: `until its last items are drawn; median, the first one ${times[0]?.toFixed(0)}`,
      })
    }),
}

export const uiConversationMiddle: Row = {
  name: 'ui-conversation-middle',
  measure: (bench) =>
    withUi(bench, async ({ page }) => {
      const times: number[] = []
      for (let round = 0; round < repetitions(bench); round += 1) {
        await timeInPage(page, { action: goTo(SESSION), until: END_SHOWN })
        times.push(await timeInPage(page, { action: JUMP_TO_MIDDLE, until: MIDDLE_SHOWN }))
        await timeInPage(page, { action: goTo('/'), until: TIMELINE_SHOWN })
      }
      return atMost(MAX_MIDDLE_MS, {
        ours: median(times),
        unit: 'ms',
        detail: 'from a click on a prompt in the outline until its items are drawn; median',
      })
    }),
}

/** A prompt in the outline: each of the ten parts of the conversation has one. */
const JUMP_TO_MIDDLE = `document.querySelectorAll('nav[aria-label=Prompts] button')[5].click()`

export const uiConversationHeap: Row = {
  name: 'ui-conversation-heap',
  measure: (bench) =>
    withUi(bench, async (ui) => {
      await timeInPage(ui.page, { action: goTo(SESSION), until: END_SHOWN })
      await timeInPage(ui.page, { action: JUMP_TO_MIDDLE, until: MIDDLE_SHOWN })
      return atMost(MAX_HEAP_MEGABYTES, {
        ours: await heapMegabytes(ui),
        unit: 'MB',
        detail: 'with the timeline loaded, after a garbage collection',
      })
    }),
}

function repetitions({ quick }: Bench): number {
  return quick ? 3 : 7
}
