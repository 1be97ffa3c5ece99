// `savestate` alone: where you are, and what to do next.
import { SavestateError } from '../../index.js'
import { checkpointTable } from '../checkpoint-table.js'
import { command } from '../command.js'
import { pathForPeople } from '../printable.js'

const SHOWN = 5

export const run = command({
  async call({ project, hooks }) {
    const here = await project().catch((error: unknown) => {
      if (!(error instanceof SavestateError) || error.code !== 'PROJECT_REFUSED') throw error
      const hint = [error.hint ?? [], '`savestate help` lists the commands.'].flat().join('\n')
      throw new SavestateError(error.code, error.message, { hint, cause: error })
    })
    return here.list({ limit: SHOWN }, hooks)
  },
  async render({ checkpoints }, { project, screen }) {
    const folder = pathForPeople((await project()).path)
    if (checkpoints.length === 0) {
      return [
        `Nothing has been saved in ${folder} yet.`,
        '',
        'Save it now, before something breaks:   savestate save -m "it works"',
        'See later what changed:                 savestate diff 1',
        'Go back:                                savestate rewind 1',
        'All commands:                           savestate help',
      ].join('\n')
    }
    return [
      `The newest checkpoints of ${folder}:`,
      '',
      checkpointTable(checkpoints, screen),
      '',
      'See what changed since the newest:   savestate diff 1',
      'Go back to it:                       savestate rewind 1',
      'Save the folder as it is:            savestate save -m "why"',
      'All checkpoints, all commands:       savestate list, savestate help',
    ].join('\n')
  },
})
