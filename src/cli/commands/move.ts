import type { MoveResult } from '../../index.js'
import { folderText } from '../checkpoint-table.js'
import { command } from '../command.js'
import { counted } from '../figures.js'
import { programFor } from '../shell-quoted.js'
import { from as fromFolder } from '../request.js'

export const run = command<MoveResult>({
  async call({ store, folder, options, positionals, argument }) {
    const here = fromFolder(folder, options.text('C') ?? '.')
    const [old, to = '.'] = [argument(0), positionals[1]]
    const { maintenance } = await store()
    return maintenance.moveProject(fromFolder(here, old), fromFolder(here, to))
  },
  render({ from, to, checkpoints }, { options }) {
    const belong = checkpoints === 1 ? 'belongs' : 'belong'
    return `${counted(checkpoints, 'checkpoint')} of ${folderText(from)} now ${belong} to ${folderText(to)}. See: ${programFor(options)} list`
  },
})
