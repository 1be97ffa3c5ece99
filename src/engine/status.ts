// The store at a glance.
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { hasCode, pathText } from '../model/index.js'
import { storeOperation } from './operation.js'
import { type ProjectState, projectStateOf } from './project-state.js'

export type StatusResult = {
  readonly home: string
  readonly sizeBytes: number
  readonly projects: readonly {
    readonly id: string
    readonly path: string
    readonly checkpoints: number
    readonly lastTouch: string
    readonly state: ProjectState
  }[]
  readonly sessions: readonly never[]
  readonly legacy: readonly never[]
}

export const status = storeOperation({
  name: 'status',
  summary: 'Show the store: its size and its projects',
  effect: 'reads',
  input: z.object({}),
  async run({ home, ledger }): Promise<StatusResult> {
    const projects = ledger.projects().map((summary) => ({
      id: summary.project.id,
      path: pathText(summary.project.path),
      checkpoints: summary.checkpoints,
      lastTouch: new Date(summary.touchedAtMs).toISOString(),
      state: projectStateOf(summary.project.path, summary),
    }))
    return { home, sizeBytes: sizeOf(home), projects, sessions: [], legacy: [] }
  },
})

/** Bytes on disk, not bytes in files: what a person would get back. */
function sizeOf(path: string): number {
  try {
    const stats = lstatSync(path)
    const own = stats.blocks * 512
    if (!stats.isDirectory()) return own
    return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), own)
  } catch (error) {
    // Temporaries of another process come and go while we count.
    if (hasCode(error, 'ENOENT')) return 0
    throw error
  }
}
