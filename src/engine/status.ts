// The store at a glance.
import * as z from 'zod/mini'
import { pathText } from '../model/index.js'
import { diskUsage } from '../system/index.js'
import { storeOperation } from './operation.js'
import { type ProjectState, projectStateOf } from './project-state.js'
import { recoverAll } from './recover.js'
import { type SessionView, viewSession } from './session-view.js'

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
  readonly sessions: readonly SessionView[]
  readonly legacy: readonly never[]
}

export const status = storeOperation({
  name: 'status',
  summary: 'Show the store: its size and its projects',
  effect: 'reads',
  input: z.object({}),
  async run(context, _input, hooks): Promise<StatusResult> {
    await recoverAll(context, hooks)
    const { home, ledger } = context
    const projects = ledger.projects().map((summary) => ({
      id: summary.project.id,
      path: pathText(summary.project.path),
      checkpoints: summary.checkpoints,
      lastTouch: new Date(summary.touchedAtMs).toISOString(),
      state: projectStateOf(summary.project.path, summary),
    }))
    const sessions = ledger.sessions.list({}).map((session) => viewSession(context, session))
    return { home, sizeBytes: await diskUsage(home), projects, sessions, legacy: [] }
  },
})
