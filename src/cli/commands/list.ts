import type { CheckpointView } from '../../index.js'
import { checkpointTable } from '../checkpoint-table.js'
import { command, type Request } from '../command.js'
import type { Options } from '../parse.js'

const DEFAULT_LIMIT = 20

export const run = command({
  async call(request): Promise<{ readonly checkpoints: readonly CheckpointView[] }> {
    const { options, project, store, hooks } = request
    const input = limitFor(request)
    return options.has('all')
      ? (await store()).list(input, hooks)
      : (await project()).list(input, hooks)
  },
  render({ checkpoints }, { options, screen }) {
    if (checkpoints.length === 0) {
      return options.has('all')
        ? 'Nothing has been saved yet. Save this folder with: savestate save'
        : 'Nothing has been saved here yet. Save this folder with: savestate save'
    }
    return checkpointTable(checkpoints.slice(0, shownOf(options)), screen)
  },
  note({ checkpoints }, { options, screen }) {
    const shown = shownOf(options)
    if (checkpoints.length <= shown) return undefined
    const more = `savestate list${options.has('all') ? ' --all' : ''} --limit ${shown * 5}`
    return screen.paintNote('dim', `There are more. See them with: ${more}`)
  },
})

function shownOf(options: Options): number {
  return options.number('limit') ?? DEFAULT_LIMIT
}

/** One more than is shown tells whether there are more. */
function limitFor({ isJson, options }: Request): { limit?: number } {
  const limit = options.number('limit')
  if (isJson) return limit === undefined ? {} : { limit }
  return { limit: shownOf(options) + 1 }
}
