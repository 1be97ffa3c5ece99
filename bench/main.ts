/**
 * `npm run bench`: compares Savestate with the git commands of other tools, on the same trees, and with
 * libraries that store an agent's state, on the same states, in one run.
 * The report goes to stdout, progress to stderr. A missed limit is a result, not a failure.
 */
import { writeFileSync } from 'node:fs'
import process from 'node:process'
import { closeBrowser } from '../test/support/browser/browser.js'
import { type Bench, openBench, type TreeSource } from './bench.js'
import { serve } from './child.js'
import { CHILD_FLAG } from './child-process.js'
import { costBySize, type Series } from './plots/cost-by-size.js'
import { costByStep } from './plots/cost-by-step.js'
import { flushDisk } from './measure.js'
import { plot } from './plots/plot.js'
import { type Options, parseOptions, USAGE } from './options.js'
import { asJson, asTable, type Result } from './report.js'
import type { Row } from './row.js'
import { blameTime } from './rows/blame.js'
import { bisectStep } from './rows/bisect.js'
import { daemonMemory, hookCommand, hookHttp } from './rows/daemon.js'
import { callsCommand, callsHttp } from './rows/tool-calls.js'
import { diskAfterSaves } from './rows/disk.js'
import { firstSave } from './rows/first-save.js'
import { langgraphPut } from './rows/langgraph.js'
import { eventLoop, memory } from './rows/process-cost.js'
import { rewindOne } from './rows/rewind.js'
import { startList, startVersion } from './rows/start.js'
import { saveOneCli, saveOneRunning } from './rows/save-one.js'
import { appendGrowth, appendTime } from './rows/state-append.js'
import { forkDisk, forkTime } from './rows/state-fork.js'
import { listMemory, listTime, loadTime } from './rows/state-read.js'
import { saveOfSqlite, saveTime, stateDisk } from './rows/state-save.js'
import { behindAppend, fleet } from './rows/shared/fleet.js'
import { sharedBytes, sharedRoundTrip } from './rows/shared/network.js'
import { resumeFiles, resumeState } from './rows/shared/resume.js'
import {
  sharedAppend,
  sharedDisk,
  sharedGrowth,
  sharedPut,
  sharedSave,
} from './rows/shared/state.js'
import { searchTime } from './rows/search.js'
import { statusTime, waitBesidePrune } from './rows/store-care.js'
import {
  uiConversationEnd,
  uiConversationHeap,
  uiConversationMiddle,
  uiPatch,
} from './rows/ui-details.js'
import {
  uiHeap,
  uiListening,
  uiNewCheckpoint,
  uiPaint,
  uiScroll,
  uiTransferred,
  uiUsable,
} from './rows/ui-timeline.js'
import {
  watchedHundred,
  watchedNothing,
  watchedOfGit,
  watchedRewind,
  watchedSave,
  watchedSlow,
  watchedTrees,
} from './rows/watched.js'
import { openScratch } from './scratch.js'

if (process.argv[2] === CHILD_FLAG) serve()
else process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  let options: Options
  let rows: readonly Row[]
  try {
    options = parseOptions(args)
    rows = chosenRows(options)
  } catch (error) {
    log(`${describe(error)}\n${USAGE}`)
    return 2
  }

  if (options.plot !== undefined) return draw(options.plot, BY_SIZE, options)
  if (options.plotSteps !== undefined) return draw(options.plotSteps, BY_STEP, options)
  const { results, failures } = await measure(rows, options)
  console.log(options.json ? asJson(results) : await asTable(results))
  return failures === 0 ? 0 : 1
}

type Picture = {
  readonly title: string
  readonly axis: string
  readonly measure: (bench: Bench) => Promise<readonly Series[]>
}

const BY_SIZE: Picture = {
  title: 'A save of one changed file, by the size of the folder',
  axis: 'files in the folder',
  measure: costBySize,
}

const BY_STEP: Picture = {
  title: 'A shared save, by the length of the session',
  axis: 'steps in the session',
  measure: costByStep,
}

async function draw(file: string, picture: Picture, { quick, work }: Options): Promise<number> {
  const scratch = openScratch(work)
  try {
    const series = await picture.measure(openBench({ scratch, quick, log }))
    writeFileSync(file, plot(series, picture))
    console.log(JSON.stringify(series, undefined, 2))
    return 0
  } catch (error) {
    log(describe(error))
    return 1
  } finally {
    log('removing the scratch folder')
    scratch.remove()
  }
}

/** Memory is limited to 250 MB for 23k files and to 700 MB for 200k. */
function allRows(trees: readonly TreeSource[]): readonly Row[] {
  const small: TreeSource = { shape: '2k' }
  const large: TreeSource = { shape: '23k' }
  const huge: TreeSource = { shape: '200k' }
  return [
    firstSave(small),
    saveOneRunning(small),
    ...timesOf(large),
    memory(large, { maxMegabytes: 250, slow: false }),
    watchedSave,
    watchedSlow,
    watchedOfGit,
    watchedTrees,
    watchedNothing,
    watchedHundred,
    watchedRewind,
    hookHttp(large),
    hookCommand(large),
    callsHttp(large),
    callsCommand(large),
    daemonMemory,
    ...trees.flatMap(timesOf),
    ...stateRows(),
    ...sharedRows(),
    startVersion,
    startList,
    ...uiRows(),
    // Late, because it fills the page cache.
    memory(huge, { maxMegabytes: 700, slow: true }),
    // Last, because its collection deletes files: see scratch.ts.
    diskAfterSaves,
  ]
}

/** With a PostgreSQL server of the run: docs/internals/shared.md. */
function sharedRows(): readonly Row[] {
  return [
    sharedAppend,
    sharedSave,
    sharedPut,
    sharedGrowth,
    sharedDisk,
    sharedBytes,
    sharedRoundTrip,
    behindAppend,
    resumeState,
    resumeFiles,
    fleet,
  ]
}

/** In a real browser: docs/internals/ui.md. */
function uiRows(): readonly Row[] {
  return [
    uiListening,
    uiPaint,
    uiUsable,
    uiTransferred,
    uiScroll,
    uiHeap,
    uiNewCheckpoint,
    uiPatch,
    uiConversationEnd,
    uiConversationMiddle,
    uiConversationHeap,
  ]
}

function stateRows(): readonly Row[] {
  return [
    saveTime,
    saveOfSqlite,
    appendTime,
    appendGrowth,
    stateDisk,
    listTime,
    listMemory,
    loadTime,
    forkTime,
    forkDisk,
    langgraphPut,
    searchTime,
    bisectStep,
    statusTime,
    blameTime,
    waitBesidePrune,
  ]
}

function timesOf(source: TreeSource): readonly Row[] {
  return [
    firstSave(source),
    saveOneRunning(source),
    saveOneCli(source),
    rewindOne(source),
    eventLoop(source),
  ]
}

function chosenRows({ trees, only, quick }: Options): readonly Row[] {
  const rows = allRows(trees)
  if (only.length === 0) return rows.filter(({ slow }) => !quick || slow !== true)
  const names = new Set(rows.map(({ name }) => name))
  const unknown = only.filter((name) => !names.has(name))
  if (unknown.length > 0) {
    throw new Error(`No row ${unknown.join(', ')}. There are: ${[...names].join(', ')}`)
  }
  return rows.filter(({ name }) => only.includes(name))
}

async function measure(
  rows: readonly Row[],
  { quick, work }: Options,
): Promise<{ results: readonly Result[]; failures: number }> {
  const scratch = openScratch(work)
  const bench = openBench({ scratch, quick, log })
  const results: Result[] = []
  let failures = 0
  try {
    for (const row of rows) {
      try {
        // Dirty pages of one row must not cost the next.
        await flushDisk()
        results.push({ name: row.name, ...(await row.measure(bench)) })
      } catch (error) {
        failures += 1
        log(`${row.name} failed: ${describe(error)}`)
      }
    }
  } finally {
    await closeBrowser()
    log('removing the scratch folder')
    scratch.remove()
  }
  return { results, failures }
}

function log(text: string): void {
  console.error(text)
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
