/**
 * The first view of `savestate ui` over 10,000 checkpoints, in a real browser with an empty cache: the start of the server, the
 * first view, scrolling, memory, and how soon a new checkpoint appears.
 */
import { type Bench, shared } from '../bench.js'
import { median, quantile } from '../measure.js'
import { atMost, KILOBYTE, type Measured, type Row } from '../row.js'
import { openStore } from '../sdk.js'
import { heapMegabytes, type OpenUi, startServer, timeInPage, withUi } from '../ui/ui-page.js'
import { CHECKPOINTS, uiStore } from '../ui/ui-store.js'

const MAX_LISTENING_MS = 250
const MAX_PAINT_MS = 400
const MAX_USABLE_MS = 700
const MAX_TRANSFERRED_KILOBYTES = 120
const MAX_FRAME_MS = 20
const MAX_HEAP_MEGABYTES = 60
const MAX_VISIBLE_MS = 500

export const uiListening: Row = {
  name: 'ui-listening',
  async measure(bench) {
    const store = await uiStore(bench)
    bench.log('starts of `savestate ui`')
    const times: number[] = []
    for (let round = 0; round < repetitions(bench) + 1; round += 1) {
      const server = await startServer(store)
      await server.stop()
      if (round > 0) times.push(server.listeningMs)
    }
    return atMost(MAX_LISTENING_MS, { ours: median(times), unit: 'ms', detail: 'median' })
  },
}

interface FirstView {
  readonly paintMs: number
  readonly usableMs: number
  readonly bytes: number
}

const firstViews = shared(async (bench): Promise<readonly FirstView[]> => {
  await uiStore(bench)
  bench.log('first views of the page')
  const views: FirstView[] = []
  for (let round = 0; round < repetitions(bench) + 1; round += 1) {
    const view = await withUi(bench, ({ page }) => page.evaluate<FirstView>(FIRST_VIEW))
    // The first one fills the caches of the system.
    if (round > 0) views.push(view)
  }
  return views
})

/** Older rows and everything else that is loaded later do not belong to the first view. */
const FIRST_VIEW = `(() => {
  const usableMs = window.uiReadyMs
  const [navigation] = performance.getEntriesByType('navigation')
  const first = performance.getEntriesByType('resource').filter((one) => one.responseEnd <= usableMs)
  const [paint] = performance.getEntriesByName('first-contentful-paint')
  const bytes = [navigation, ...first].reduce((sum, one) => sum + one.transferSize, 0)
  return { paintMs: paint.startTime, usableMs, bytes }
})()`

export const uiPaint = firstViewRow('ui-paint', (views) =>
  atMost(MAX_PAINT_MS, {
    ours: median(views.map(({ paintMs }) => paintMs)),
    unit: 'ms',
    detail: 'first contentful paint, from the request of the page; median',
  }),
)

export const uiUsable = firstViewRow('ui-usable', (views) =>
  atMost(MAX_USABLE_MS, {
    ours: median(views.map(({ usableMs }) => usableMs)),
    unit: 'ms',
    detail: 'the newest 200 rows are drawn; median',
  }),
)

export const uiTransferred = firstViewRow('ui-transferred', (views) =>
  atMost(MAX_TRANSFERRED_KILOBYTES, {
    ours: Math.max(...views.map(({ bytes }) => bytes)) / KILOBYTE,
    unit: 'KB',
    detail: 'until the rows are drawn, with headers; largest',
  }),
)

function firstViewRow(name: string, figure: (views: readonly FirstView[]) => Measured): Row {
  return { name, measure: async (bench) => figure(await firstViews(bench)) }
}

export const uiScroll: Row = {
  name: `ui-scroll-${CHECKPOINTS}`,
  measure: (bench) =>
    withUi(bench, async (ui) => {
      await waitForAllRows(ui)
      bench.log(`scrolling ${CHECKPOINTS} rows`)
      const { x, y } = await ui.page.evaluate<{ x: number; y: number }>(MIDDLE_OF_ROWS)
      // Several times: another process on the machine delays frames, too.
      const passes: (readonly number[])[] = []
      for (const direction of [-1, 1, -1, 1, -1]) {
        await ui.page.evaluate(START_FRAMES)
        await ui.devtools.send('Input.synthesizeScrollGesture', {
          x,
          y,
          yDistance: direction * SCROLLED_PIXELS,
          speed: PIXELS_PER_SECOND,
          gestureSourceType: 'mouse',
        })
        passes.push(await ui.page.evaluate<readonly number[]>(END_FRAMES))
      }
      const longest = Math.max(...passes.flat())
      return atMost(MAX_FRAME_MS, {
        ours: median(passes.map((frames) => quantile(frames, 0.95))),
        unit: 'ms',
        detail: `95 % of the frames are shorter; median of ${passes.length} passes, longest ${longest.toFixed(0)}`,
      })
    }),
}

const SCROLLED_PIXELS = 20_000
const PIXELS_PER_SECOND = 8_000
const MIDDLE_OF_ROWS = `(() => {
  const { x, y, width } = document.querySelector('[data-view=timeline] [role=row][data-id]').getBoundingClientRect()
  return { x: x + width / 2, y: y + 200 }
})()`
const START_FRAMES = `(() => {
  const frames = []
  window.uiFrames = frames
  let last
  const frame = (at) => {
    if (window.uiFrames !== frames) return
    if (last !== undefined) frames.push(at - last)
    last = at
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
})()`
const END_FRAMES =
  '(() => { const frames = window.uiFrames; window.uiFrames = undefined; return frames })()'

export const uiHeap: Row = {
  name: `ui-heap-${CHECKPOINTS}`,
  measure: (bench) =>
    withUi(bench, async (ui) => {
      await waitForAllRows(ui)
      return atMost(MAX_HEAP_MEGABYTES, {
        ours: await heapMegabytes(ui),
        unit: 'MB',
        detail: 'all rows are loaded; after a garbage collection',
      })
    }),
}

export const uiNewCheckpoint: Row = {
  name: 'ui-new-checkpoint',
  measure: (bench) =>
    withUi(bench, async (ui) => {
      await waitForAllRows(ui)
      bench.log('new checkpoints while the page is open')
      const { page, store: place } = ui
      await page.evaluate(RECORD_ROWS)
      const store = await openStore(place.home)
      const session = await store.session('new checkpoints', {
        project: await store.project(place.project),
      })
      const times: number[] = []
      for (let round = 0; round < repetitions(bench) + 1; round += 1) {
        const { id } = await session.save({ reason: `new ${round}`, state: { round } })
        const savedAt = Date.now()
        const seen = `window.uiRows.get(${JSON.stringify(id)})`
        await timeInPage(page, { action: '', until: `${seen} !== undefined` })
        if (round > 0) times.push((await page.evaluate<number>(seen)) - savedAt)
      }
      await store.close()
      return atMost(MAX_VISIBLE_MS, {
        ours: quantile(times, 0.95),
        unit: 'ms',
        detail: `from the end of the save until its row is in the page; 95 % are faster`,
      })
    }),
}

/** When a row appeared in the document, by its id. */
const RECORD_ROWS = `
  window.uiRows = new Map()
  new MutationObserver(() => {
    for (const row of document.querySelectorAll('[data-view=timeline] [role=row][data-id]'))
      if (!window.uiRows.has(row.dataset.id)) window.uiRows.set(row.dataset.id, Date.now())
  }).observe(document, { subtree: true, childList: true })
`

/** The page loads older rows in pages, while it is idle. */
async function waitForAllRows({ page }: OpenUi): Promise<void> {
  const pages = Math.ceil((CHECKPOINTS - 200) / 2_000)
  const loaded = `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/rows'))`
  await timeInPage(page, { action: '', until: `${loaded}.length >= ${pages}` })
}

function repetitions({ quick }: Bench): number {
  return quick ? 5 : 15
}
