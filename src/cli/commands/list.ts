import type { CheckpointView } from '../../index.js'
import { checkpointTable, stepTable } from '../checkpoint-table.js'
import { command, type Request } from '../command.js'
import { sessionToRead } from '../known-session.js'
import type { Options } from '../parse.js'
import { printableLine } from '../printable.js'
import { programFor, shellQuoted } from '../shell-quoted.js'
import { withShortIds } from '../short-id.js'

const DEFAULT_LIMIT = 20

type Listed = { readonly checkpoints: readonly CheckpointView[] }

export const run = command({
  call: (request): Promise<Listed> => listed(request, limitFor(request)),
  async render({ checkpoints }, request) {
    const { options, screen } = request
    const session = options.text('session')
    const shown = checkpoints.slice(0, shownOf(options))
    if (shown.length > 0) {
      const rows = withShortIds(shown, await neighbours(checkpoints, request))
      return session === undefined ? checkpointTable(rows, screen) : stepTable(rows, screen)
    }
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

async function listed(request: Request, input: { limit?: number }): Promise<Listed> {
  const { options, project, store, hooks } = request
  const session = options.text('session')
  if (session !== undefined)
    return { checkpoints: await (await sessionToRead(await store(), session)).list(input) }
  return options.has('all')
    ? (await store()).list(input, hooks)
    : (await project()).list(input, hooks)
}

/** What the start of an id that is shown could mean as well. */
async function neighbours(
  checkpoints: Listed['checkpoints'],
  request: Request,
): Promise<Listed['checkpoints']> {
  const { options, store, hooks } = request
  // A step can be typed with --of, and without it in the project.
  if (options.has('session')) return (await (await store()).list({}, hooks)).checkpoints
  if (checkpoints.length <= shownOf(options)) return checkpoints
  return (await listed(request, {})).checkpoints
}

function shownOf(options: Options): number {
  return options.number('limit') ?? DEFAULT_LIMIT
}

/** One more than is shown tells whether there are more. */
function limitFor({ isJson, options }: Request): { limit?: number } {
  const limit = options.number('limit')
  if (isJson) return limit === undefined ? {} : { limit }
  return { limit: shownOf(options) + 1 }
}
