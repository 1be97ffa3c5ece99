// `savestate` alone: where you are, and what to do next.
import { SavestateError } from '../../index.js'
import { groupByPrompt } from '../checkpoint-groups.js'
import { severalAuthors } from '../checkpoint-lines.js'
import { checkpointTable } from '../checkpoint-table.js'
import { command } from '../command.js'
import { newestRows } from '../list-selection.js'
import { pathForPeople } from '../printable.js'
import { programFor } from '../shell-quoted.js'

const SHOWN = 5

export const run = command({
  async call(request) {
    await request.project().catch((error: unknown) => {
      if (!(error instanceof SavestateError) || error.code !== 'PROJECT_REFUSED') throw error
      const hint = [error.hint ?? [], '`savestate help` lists the commands.'].flat().join('\n')
      throw new SavestateError(error.code, error.message, { hint, cause: error })
    })
    return newestRows(request, SHOWN)
  },
  json: ({ chosen }) => ({ checkpoints: chosen.map(({ number: _number, ...row }) => row) }),
  async render({ all: checkpoints, chosen }, { project, store, screen, options }) {
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
    const ids = await (await store()).maintenance.shortIds(checkpoints.map(({ id }) => id))
    const rows = checkpoints.map((row, index) => ({
      ...row,
      shortId: ids.get(row.id) ?? row.id,
      label: `${index + 1}`,
    }))
    const shown = new Set(chosen.map(({ id }) => id))
    const table = checkpointTable(groupByPrompt(rows), {
      screen,
      shown: ({ id }) => shown.has(id),
      hasAuthors: severalAuthors(checkpoints),
      countsHidden: true,
    })
    return [
      `The newest checkpoints of ${folder}:`,
      '',
      table,
      '',
      `See what changed since the newest:   ${program} diff 1`,
      `Pick one to go back to:              ${program} rewind`,
      `Save the folder as it is:            ${program} save -m "why"`,
      `All checkpoints, all commands:       ${program} list, savestate help`,
    ].join('\n')
  },
})
