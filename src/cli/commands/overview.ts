// `savestate` alone: where you are, and what to do next.
import { SavestateError } from '../../index.js'
import { checkpointTable } from '../checkpoint-table.js'
import { command } from '../command.js'
import { pathForPeople } from '../printable.js'
import { programFor } from '../shell-quoted.js'
import { withShortIds } from '../short-id.js'

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
  async render({ checkpoints }, { project, screen, options }) {
    const program = programFor(options)
    const here = await project()
    const folder = pathForPeople(here.path)
    if (checkpoints.length === 0) {
      return [
        `Nothing has been saved in ${folder} yet.`,
        '',
        `Save it now, before something breaks:   ${program} save -m "it works"`,
        `See later what changed:                 ${program} diff 1`,
        `Go back:                                ${program} rewind 1`,
        'All commands:                           savestate help',
      ].join('\n')
    }
    const isAll = checkpoints.length < SHOWN
    const all = isAll ? checkpoints : (await here.list()).checkpoints
    return [
      `The newest checkpoints of ${folder}:`,
      '',
      checkpointTable(withShortIds(checkpoints, all), screen),
      '',
      `See what changed since the newest:   ${program} diff 1`,
      `Go back to it:                       ${program} rewind 1`,
      `Save the folder as it is:            ${program} save -m "why"`,
      `All checkpoints, all commands:       ${program} list, savestate help`,
    ].join('\n')
  },
})
