// LangGraph's own conformance suite for savers, run under our vitest configuration. Two habits of the suite shape this
// file: it takes `describe`, `it`, `expect` and the hooks from the global scope, which our configuration leaves empty,
// and it skips tests of the savers it knows by name.
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  type RunnerTask,
  test,
  vi,
} from 'vitest'

/** 718 by `validate`, 8 by `deltaChannelHistoryTests`, which `validate` leaves out. */
const testsInSuite = 726

/**
 * Registers the suite for one saver; to be called outside any test.
 *
 * `makeSaver` is called 39 times: once for each test of `put`, `putWrites` and `getDeltaChannelHistory`, and once for
 * each of the three other groups. No saver may see the threads of another: `list` without a thread id must give exactly
 * what its own group has put.
 */
export function runConformance<Saver extends BaseCheckpointSaver>(suite: {
  readonly name: string
  readonly makeSaver: () => Promise<Saver>
  readonly destroySaver: (saver: Saver) => Promise<void>
}): void {
  describe(`the conformance suite of LangGraph with ${suite.name}`, () => {
    lendGlobals()
    const initializer = {
      checkpointerName: suite.name,
      createCheckpointer: suite.makeSaver,
      destroyCheckpointer: suite.destroySaver,
    }
    validate(initializer)
    deltaChannelHistoryTests(initializer)

    // An update of the suite that drops tests, or that skips tests for our name, must fail.
    test(`all ${testsInSuite} tests have run`, ({ task }) => {
      const others = testsOf(task.suite).filter((other) => other !== task)
      const skipped = others.filter(
        ({ result }) => result?.state !== 'pass' && result?.state !== 'fail',
      )
      expect({ tests: others.length, skipped: skipped.map((other) => other.name) }).toEqual({
        tests: testsInSuite,
        skipped: [],
      })
    })
  })
}

/**
 * The suite reads these names while it registers its tests and again while they run. Between the two, the tests of
 * another saver in the same file may have run and removed them.
 */
function lendGlobals(): void {
  const lent = { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it }
  const lend = (): void => {
    for (const [name, value] of Object.entries(lent)) vi.stubGlobal(name, value)
  }
  lend()
  beforeAll(lend)
  afterAll(() => {
    vi.unstubAllGlobals()
  })
}

function testsOf(task: RunnerTask | undefined): RunnerTask[] {
  if (task === undefined) return []
  return task.type === 'suite' ? task.tasks.flatMap(testsOf) : [task]
}
