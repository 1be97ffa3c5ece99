// `savestate` without a command: the newest checkpoints, and what to do next.
import { SavestateError } from '../../index.js'
import { groupByPrompt } from '../render/checkpoint-groups.js'
import { checkpointTable, hasSeveralAuthors } from '../render/checkpoint-table.js'
import { command } from '../runtime/command.js'
import { displayPath } from '../terminal/escape.js'
import { programFor } from '../terminal/shell-quote.js'
import { readNewest } from '../runtime/list-selection.js'

const SHOWN = 5

export const run = command({
  async call({ project, hooks }) {
    const here = await project().catch((error: unknown) => {
      if (!(error instanceof SavestateError) || error.code !== 'PROJECT_REFUSED') throw error
      const hint = [error.hint ?? [], '`savestate help` lists the commands.'].flat().join('\n')
      throw new SavestateError(error.code, error.message, { hint, cause: error })
    })
    const read = async (limit: number) => ({
      checkpoints: await here.list({ limit, ...hooks }),
      total: await here.count(),
    })
    return readNewest(read, SHOWN)
  },
  json: ({ checkpoints }) => ({ checkpoints: checkpoints.slice(0, SHOWN) }),
  async render({ checkpoints }, { project, screen, options }) {
    const program = programFor(options)
    const here = await project()
    const folder = displayPath(here.path)
    if (checkpoints.length === 0) {
      return [
        `Nothing has been saved in ${folder} yet.`,
        '',
        `Save it now, before something breaks:   ${program} save -m "it works"`,
        `See later what changed:                 ${program} diff 1`,
        `Go back:                                ${program} rewind 1`,
        `See all of it in the browser:           ${program} ui`,
        'All commands:                           savestate help',
      ].join('\n')
    }
    const ids = await here.internals.shortIds(checkpoints.map(({ id }) => id))
    const rows = checkpoints.map((row, index) => ({
      ...row,
      shortId: ids.get(row.id) ?? row.id,
      label: `${index + 1}`,
    }))
    const shown = new Set(checkpoints.slice(0, SHOWN).map(({ id }) => id))
    const table = checkpointTable(groupByPrompt(rows), {
      screen,
      shown: ({ id }) => shown.has(id),
      hasAuthors: hasSeveralAuthors(checkpoints),
      countsHidden: true,
    })
    return [
      `The newest checkpoints of ${folder}:`,
      '',
      table,
      '',
      `See what changed since the newest:   ${program} diff 1`,
      `Pick one to go back to:              ${program} rewind`,
      `See everything in the browser:       ${program} ui`,
      `Save the folder as it is:            ${program} save -m "why"`,
      `All checkpoints, all commands:       ${program} list, savestate help`,
    ].join('\n')
  },
})
