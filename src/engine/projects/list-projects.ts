// Lists the projects of the store without their sizes, which `status` computes.
import * as z from 'zod/mini'
import { pathText } from '../../model/index.js'
import { storeOperation } from '../operation/operation.js'
import { type ProjectState, readProjectState } from './project-state.js'

export type ProjectListItem = {
  readonly path: string
  readonly checkpoints: number
  readonly state: ProjectState
  /** When it was used last. */
  readonly lastTouch: Date
}

/** The last used first. A folder whose first save failed has no checkpoints and is left out. */
export const listProjects = storeOperation({
  name: 'projects',
  summary: 'List the projects, last used first',
  effect: 'reads',
  input: () => z.strictObject({}),
  withoutInput: () => ({}),
  async run({ ledger }): Promise<readonly ProjectListItem[]> {
    const saved = ledger.projects().filter(({ checkpoints }) => checkpoints > 0)
    return saved.map(({ project, ...summary }) => ({
      path: pathText(project.path),
      checkpoints: summary.checkpoints,
      state: readProjectState(project.path, summary),
      lastTouch: new Date(summary.touchedAtMs),
    }))
  },
})
