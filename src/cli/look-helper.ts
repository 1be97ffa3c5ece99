// The thread that helps to look at a large folder takes as long to start as the rest of the program: both start at once.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreOptions } from '../index.js'
import { storePath } from '../base/index.js'
import type { CommandName } from './table.js'

const LOOKING: ReadonlySet<CommandName | undefined> = new Set(['save', 'rewind', 'undo', 'redo'])
/** Beside the program, where the build puts it. */
const THREAD = './stat-thread.js'
/** What is known of a project from which on a save wants the helper. */
const LARGE_BYTES = 200_000

/** Undefined where nothing is known of any large folder: which one the command is about is found out later. */
export function startHelper(command: CommandName | undefined): StoreOptions['helper'] {
  const home = LOOKING.has(command) ? storePath() : undefined
  if (home === undefined || !knowsLargeFolder(join(home, 'cache'))) return undefined
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const worker = new Worker(new URL(THREAD, import.meta.url), {
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  })
  worker.unref()
  // Whatever keeps it from its work, the command does that too.
  worker.on('error', () => undefined)
  return worker
}

function knowsLargeFolder(caches: string): boolean {
  try {
    return readdirSync(caches).some((name) => statSync(join(caches, name)).size > LARGE_BYTES)
  } catch {
    // No store yet, or none that can be read: the command itself says so.
    return false
  }
}
