// A folder for what the processes of one test run keep between their files. The run removes it; a process cannot, because the
// test runner ends it without notice.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const VARIABLE = 'SAVESTATE_TEST_SHARED'

/** Called by the test runner before its processes start. Returns what runs after the last one. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-shared-'))
  process.env[VARIABLE] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

export function sharedFolder(): string {
  const folder = process.env[VARIABLE]
  if (folder === undefined) throw new Error('vitest.config.ts has no globalSetup')
  return folder
}
