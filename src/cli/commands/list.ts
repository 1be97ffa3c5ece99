import type { CheckpointView } from '../../index.js'
import { checkpointTable, stepTable } from '../checkpoint-table.js'
import { command, type Request } from '../command.js'
import { sessionToRead } from '../known-session.js'
import type { Options } from '../parse.js'
import { printableLine } from '../printable.js'
import { programFor, shellQuoted } from '../shell-quoted.js'

const DEFAULT_LIMIT = 20

export const run = command({
  async call(request): Promise<{ readonly checkpoints: readonly CheckpointView[] }> {
    const { options, project, store, hooks } = request
    const input = limitFor(request)
    const session = options.text('session')
    if (session !== undefined)
      return { checkpoints: await (await sessionToRead(await store(), session)).list(input) }
    return options.has('all')
      ? (await store()).list(input, hooks)
      : (await project()).list(input, hooks)
  },
  render({ checkpoints }, { options, screen }) {
    const session = options.text('session')
    const shown = checkpoints.slice(0, shownOf(options))
    if (shown.length > 0)
      return session === undefined ? checkpointTable(shown, screen) : stepTable(shown, screen)
    if (session !== undefined)
      return `Nothing has been saved in the session ${printableLine(session)} yet.`
    const nothing = options.has('all')
      ? 'Nothing has been saved yet.'
      : 'Nothing has been saved here yet.'
    return `${nothing} Save this folder with: ${programFor(options)} save`
  },
  note({ checkpoints }, { options, screen }) {
    const shown = shownOf(options)
    if (checkpoints.length <= shown) return undefined
    const session = options.text('session')
    const which = session === undefined ? '' : ` --session ${shellQuoted(session)}`
    const more = `${programFor(options)} list${which}${options.has('all') ? ' --all' : ''} --limit ${shown * 5}`
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
