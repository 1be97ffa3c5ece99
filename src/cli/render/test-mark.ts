// The mark of a checkpoint that names test commands, the same wherever checkpoints are shown.
import type { TestResult } from '../../index.js'

const MARKS: Readonly<Record<TestResult, string>> = { passed: '✓', failed: '✗' }

export function testMark(result: TestResult): string {
  return MARKS[result]
}

/** With a space after it; empty if no result of tests is known. */
export function testMarkBefore(result: TestResult | undefined): string {
  return result === undefined ? '' : `${MARKS[result]} `
}
