import type { MoveResult } from '../../index.js'
import { folderText } from '../render/checkpoint-table.js'
import { command } from '../runtime/command.js'
import { formatCount } from '../terminal/format-numbers.js'
import { programFor } from '../terminal/shell-quote.js'

export const run = command<MoveResult>({
  async call({ store, folder, positionals, argument }) {
    const [old, to = '.'] = [argument(0), positionals[1]]
    const { maintenance } = await store()
    return maintenance.moveProject(inFolder(folder, old), inFolder(folder, to))
  },
  render({ from, to, checkpoints }, { options }) {
    const belong = checkpoints === 1 ? 'belongs' : 'belong'
    return `${formatCount(checkpoints, 'checkpoint')} of ${folderText(from)} now ${belong} to ${folderText(to)}. See: ${programFor(options)} list`
  },
})

/** Resolves a path as typed; an empty path stays empty, and the SDK rejects it. */
function inFolder(folder: string, path: string): string {
  return folder === '.' || path === '' || path.startsWith('/') ? path : `${folder}/${path}`
}
