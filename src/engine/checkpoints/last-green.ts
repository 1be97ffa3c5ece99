// Finds the newest checkpoint whose test command succeeded, as the hooks of a coding agent recorded it.
import * as z from 'zod/mini'
import { SavestateError } from '../../model/index.js'
import { findKnownProject } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { type CheckpointView, viewBrief } from './views.js'

export const lastGreen = projectOperation({
  name: 'lastGreen',
  summary: 'Find the newest checkpoint whose tests passed',
  effect: 'reads',
  input: () => z.strictObject({}),
  async run(context, _, callbacks): Promise<CheckpointView> {
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    const rows =
      project === undefined ? [] : context.ledger.checkpoints.briefs({ project: project.id })
    const found = rows.find(({ tests, hasFiles }) => tests === 'passed' && hasFiles)
    if (found !== undefined) return viewBrief(found)
    throw new SavestateError(
      'CHECKPOINT_UNKNOWN',
      'No checkpoint of this project has a test command that succeeded',
      {
        hint: 'Savestate learns that from the hooks of a coding agent that runs tests, such as `npm test` or `pytest`. To run them yourself at each checkpoint: savestate bisect -- npm test',
      },
    )
  },
})
